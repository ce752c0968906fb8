/**
 * The jail on Linux, with util-linux: namespaces of users, mounts, processes, network, IPC, host name and control groups, and a
 * file system that holds nothing but Node, its libraries, the runtime and one package, all read-only. Where bubblewrap is
 * installed, its system calls are filtered as well.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { limited, type Sandbox, tool } from './confinement.ts';
import { filterOf } from './system-calls.ts';

const SCRIPT = join(import.meta.dirname, 'jail.sh');
const TOOLS = ['unshare', 'setpriv', 'prlimit', 'mount', 'umount', 'pivot_root', 'sh', 'ldd'] as const;
/** Run after the root has changed, so they are copied into it. */
const INSIDE = ['setpriv', 'prlimit', 'umount'] as const;
const FOLDERS = ['bin', 'old', 'proc', 'runtime', 'package'];
/** All capabilities are dropped: a process that was root in its own user namespace keeps none. */
const NO_CAPABILITIES = ['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];

type Paths = Record<(typeof TOOLS)[number], string>;
interface Made {
  skeleton: string;
  paths: Paths;
}

/** The ways in which it may be made, the stronger first; none where a program is missing. @param place a folder that other users can read */
export async function jails(place: string): Promise<Sandbox[]> {
  if (process.platform !== 'linux') return [];
  const found = TOOLS.map((name) => [name, tool(name)] as const);
  if (found.some(([, path]) => path === null)) return [];
  const paths = Object.fromEntries(found) as Paths;
  const made = { skeleton: await makeSkeleton(join(place, 'jail'), paths), paths };
  // Root without the capability to make namespaces can still make one of users, and the others in it.
  const ways = process.getuid?.() === 0 ? [true, false] : [false];
  const all: Sandbox[] = [];
  for (const root of ways) {
    const filter = await filterCommand(place, root);
    if (filter) all.push(jail(made, root, filter));
    all.push(jail(made, root, null));
  }
  return all;
}

/** The command that filters the system calls of the one that follows it; null where it cannot. */
async function filterCommand(place: string, root: boolean): Promise<string[] | null> {
  const program = filterOf(process.arch, !root);
  const [bwrap, sh] = ['bwrap', 'sh'].map(tool);
  if (!program || !bwrap || !sh) return null;
  const file = join(place, root ? 'calls-of-root.bpf' : 'calls.bpf');
  await writeFile(file, program, { mode: 0o644 });
  // It keeps the rights with which the jail is made; the jail drops them.
  const keep = ['--cap-add', 'ALL', ...(root ? [] : ['--unshare-user'])];
  const options = ['--die-with-parent', '--dev-bind', '/', '/', '--seccomp', '9', ...keep];
  return [sh, '-c', 'filter=$1; shift; exec "$@" 9<"$filter"', 'sh', file, bwrap, ...options];
}

/**
 * @param root whether it is made with the rights of root, and each process gets a user of its own
 * @param filter the command that filters system calls
 */
function jail({ skeleton, paths }: Made, root: boolean, filter: string[] | null): Sandbox {
  const users = root ? [] : ['--user', '--map-root-user'];
  const spaces = ['--mount', '--net', '--pid', '--ipc', '--uts', '--cgroup', ...users];
  return {
    walls: { files: 'none', network: 'none', processes: 'none', user: root, memory: true, calls: filter !== null },
    places: { runtime: '/runtime', package: '/package' },
    // One process waits in `unshare`, one in bubblewrap.
    launchers: filter ? 2 : 1,
    command({ node, runtime, folder, limits, uid }, args) {
      const user = root ? ['--reuid', String(uid), '--regid', String(uid), '--clear-groups'] : [];
      return {
        // Each process ends with its parent: the server leaves none behind, however it ends.
        file: paths.setpriv,
        args: [
          ...['--pdeathsig', 'KILL', ...(filter ?? []), paths.unshare, ...spaces, '--fork', '--kill-child=KILL'],
          ...[paths.sh, SCRIPT, skeleton, node, runtime, folder, root ? 'no' : 'yes'],
          ...['/bin/prlimit', ...limited(limits)],
          ...['/bin/setpriv', ...user, ...NO_CAPABILITIES, '--pdeathsig', 'KILL', '/node', ...args],
        ],
      };
    },
  };
}

/** What is the same in each jail: programs, their libraries and Node's, and the places on which the rest is mounted. */
async function makeSkeleton(folder: string, paths: Paths): Promise<string> {
  for (const name of FOLDERS) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'node'), '');
  const libraries = new Set(await librariesOf(paths.ldd, process.execPath));
  for (const name of INSIDE) {
    await copy(paths[name], join(folder, 'bin', name), 0o755);
    for (const library of await librariesOf(paths.ldd, paths[name])) libraries.add(library);
  }
  for (const library of libraries) await copy(library, join(folder, library), 0o755);
  return folder;
}

async function copy(from: string, to: string, mode: number): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
  await chmod(to, mode);
}

/** Absolute paths, the loader included. */
async function librariesOf(ldd: string, program: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(ldd, [program]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').flatMap((line) => /(?:=>\s*|^\s*)(\/\S+)/.exec(line)?.[1] ?? []);
}
