/** The isolation that this machine supports: tried once, with a process that looks around. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { limited, type Sandbox, tool } from './confinement.ts';
import { jails } from './jail.ts';
import { NO_WALL } from './missing-walls.ts';

/** Ends with 0 where it sees no file of the machine. */
const PROBE = `const fs = require('fs'); const at = (path) => { try { return fs.readdirSync(path).length } catch { return 0 } };
process.exit(at('/old') + at('/proc') + at('/etc') + at('/tmp') === 0 ? 0 : 1)`;

/** The strongest isolation that works here. @param place a folder that other users can read, for what it needs */
export async function findSandbox(place: string): Promise<Sandbox> {
  const [runtime, folder] = [join(place, 'probe-runtime'), join(place, 'probe-package')];
  for (const path of [runtime, folder]) await mkdir(path, { recursive: true });
  const confined = { node: process.execPath, runtime, folder, limits: { memoryMb: 128 }, uid: 61_000 };
  for (const candidate of [...(await jails(place).catch(() => [])), withoutNamespaces()]) {
    if (!candidate) continue;
    const look = candidate.walls.files === 'none' ? PROBE : '0';
    const { file, args } = candidate.command(confined, ['-e', look]);
    const works = await promisify(execFile)(file, args, { env: {}, cwd: '/', timeout: 20_000 }).then(
      () => true,
      () => false,
    );
    if (works) return candidate;
  }
  return {
    walls: NO_WALL,
    places: null,
    launchers: 0,
    command: ({ node }, args) => ({ file: node, args }),
  };
}

/** Where there are no namespaces: limits of the kernel, and another user where the server is root. */
function withoutNamespaces(): Sandbox | null {
  const [setpriv, prlimit] = ['setpriv', 'prlimit'].map(tool);
  if (process.platform !== 'linux' || !setpriv || !prlimit) return null;
  const root = process.getuid?.() === 0;
  return {
    walls: { files: 'visible', network: 'visible', processes: 'visible', user: root, memory: true, calls: false },
    places: null,
    launchers: 0,
    command: ({ node, limits, uid }, args) => {
      const user = root ? ['--reuid', String(uid), '--regid', String(uid), '--clear-groups'] : [];
      const settings = limited(limits).filter((one) => root || !one.startsWith('--nproc'));
      return {
        file: prlimit,
        args: [...settings, setpriv, ...user, '--no-new-privs', '--pdeathsig', 'KILL', node, ...args],
      };
    },
  };
}
