/** The isolation that this machine supports: tried once, with a process that does nothing. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Walls } from './runner.ts';

/** Above the user ids of people and services. Plugins of one host that run at the same time never share one. */
const FIRST_UID = 61_000;
const UIDS = 4_000;
/** What V8 reserves beside the heap, whatever the plugin does. */
const RESERVED_MB = 600;
/** Threads of one plugin's process; Node has eight. */
const MAX_THREADS = 32;
/** No file but pipes can be written, and no descriptors hoarded. */
const LIMITS = ['--core=0', '--fsize=0', '--nofile=64', `--nproc=${MAX_THREADS}`];
const PATHS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export interface Sandbox {
  walls: Walls;
  /** The command that leads to `node` with its flags. */
  command(node: string, flags: string[], limits: { memoryMb: number }, seed: string): { file: string; args: string[] };
}

const tool = (name: string): string | null =>
  PATHS.map((path) => `${path}/${name}`).find((path) => existsSync(path)) ?? null;

export function uidFor(seed: string): number {
  let sum = 0;
  for (const char of seed) sum = (sum * 31 + char.charCodeAt(0)) % UIDS;
  return FIRST_UID + sum;
}

/** The strongest isolation that works here. */
export async function findSandbox(): Promise<Sandbox> {
  const root = process.getuid?.() === 0;
  for (const candidate of [namespaces(root), plain(root)]) {
    if (!candidate) continue;
    const { file, args } = candidate.command(process.execPath, ['--permission', '-e', '0'], { memoryMb: 128 }, 'probe');
    const works = await promisify(execFile)(file, args, { env: {}, cwd: '/', timeout: 20_000 }).then(
      () => true,
      () => false,
    );
    if (works) return candidate;
  }
  return {
    walls: { network: 'hidden', processes: 'visible', user: false, memory: false },
    command: (file, args) => ({ file, args }),
  };
}

/** Linux: a process tree, network, IPC and host name of its own; root also changes the user. */
function namespaces(root: boolean): Sandbox | null {
  const [unshare, setpriv, prlimit] = ['unshare', 'setpriv', 'prlimit'].map(tool);
  if (process.platform !== 'linux' || !unshare || !setpriv || !prlimit) return null;
  return {
    walls: { network: 'none', processes: 'none', user: root, memory: true },
    command: (node, flags, { memoryMb }, seed) => {
      const uid = String(uidFor(seed));
      const spaces = ['--net', '--pid', '--ipc', '--uts', ...(root ? [] : ['--user'])];
      const user = root ? ['--reuid', uid, '--regid', uid, '--clear-groups'] : [];
      return {
        // Each process ends with its parent: the server leaves none behind, however it ends.
        file: setpriv,
        args: [
          ...['--pdeathsig', 'KILL', unshare, ...spaces, '--fork', '--kill-child=KILL'],
          ...[prlimit, `--data=${(memoryMb + RESERVED_MB) * 1_048_576}`, ...LIMITS],
          ...[setpriv, ...user, '--no-new-privs', '--pdeathsig', 'KILL', node, ...flags],
        ],
      };
    },
  };
}

/** Where there are no namespaces: Node's permission model, and another user where the server is root. */
function plain(root: boolean): Sandbox | null {
  const [setpriv, prlimit] = ['setpriv', 'prlimit'].map(tool);
  if (process.platform !== 'linux' || !root || !setpriv || !prlimit) return null;
  return {
    walls: { network: 'hidden', processes: 'visible', user: true, memory: true },
    command: (node, flags, { memoryMb }, seed) => {
      const uid = String(uidFor(seed));
      const user = ['--reuid', uid, '--regid', uid, '--clear-groups', '--no-new-privs', '--pdeathsig', 'KILL'];
      const data = `--data=${(memoryMb + RESERVED_MB) * 1_048_576}`;
      return { file: prlimit, args: [data, ...LIMITS, setpriv, ...user, node, ...flags] };
    },
  };
}
