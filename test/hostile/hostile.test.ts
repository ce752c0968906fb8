/** Hostile plugins against the walls, on each way in which a server is started: they read, write, reach and start nothing. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { Findings, Targets } from './attacks.ts';

const RUN = join(import.meta.dirname, 'run.ts');
const ORDINARY = '64999';
const FILTERS = existsSync('/usr/bin/bwrap') && ['x64', 'arm64'].includes(process.arch);
const isRoot = process.getuid?.() === 0;

/** How the server is started: the programs before Node, and whether a jail must stand there. */
const WAYS: Record<string, { prefix: string[]; jail: boolean; needsRoot: boolean }> = {
  root: { prefix: [], jail: true, needsRoot: true },
  'an ordinary user': {
    prefix: isRoot ? ['setpriv', '--reuid', ORDINARY, '--regid', ORDINARY, '--clear-groups'] : [],
    jail: true,
    needsRoot: false,
  },
  'root without CAP_SYS_ADMIN': {
    prefix: ['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin'],
    jail: true,
    needsRoot: true,
  },
  'a container that may make no namespaces': {
    prefix: [
      'unshare',
      '--user',
      '--map-root-user',
      'sh',
      '-c',
      'echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"',
      'sh',
    ],
    jail: false,
    needsRoot: false,
  },
};

/** Servers and files that any user of the machine can reach. */
async function aim(t: ExecutionContext): Promise<{ targets: Targets; visits: () => number }> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  await chmod(folder, 0o777);
  const secretFile = join(folder, 'secret.txt');
  await writeFile(secretFile, 'secret');
  let visits = 0;
  const listen = async (at: object) => {
    const server = createServer((socket) => {
      visits += 1;
      socket.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(at, resolve));
    t.teardown(() => void server.close());
    return server;
  };
  const abstract = `hostile-${process.pid}-${Math.random()}`;
  const tcp = await listen({ port: 0, host: '127.0.0.1' });
  const socket = join(folder, 'socket');
  await listen({ path: socket });
  await chmod(socket, 0o777);
  await listen({ path: `\0${abstract}` });
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const { port } = tcp.address() as AddressInfo;
  const spare = await listen({ port: 0, host: '127.0.0.1' });
  const { port: freePort } = spare.address() as AddressInfo;
  await new Promise((resolve) => spare.close(resolve));
  return { targets: { secretFile, folder, socket, abstract, port, freePort, pid: process.pid }, visits: () => visits };
}

const reached = (found: Findings) => Object.entries(found).filter(([, text]) => text.startsWith('REACHED'));

interface Report {
  plugin: Findings;
  process: {
    walls: { files: string; user: boolean; calls: boolean };
    found: Findings | null;
    uid?: number;
    interfaces?: string[];
  };
  between: Findings | null;
}

const linux = process.platform === 'linux' && existsSync('/usr/bin/unshare') ? test.serial : test.serial.skip;
for (const [way, { prefix, jail, needsRoot }] of Object.entries(WAYS)) {
  const run = needsRoot && !isRoot ? test.serial.skip : linux;
  run(
    `started as ${way}: plugins read no file but their own, reach no socket, start no process, tell other tenants nothing`,
    async (t) => {
      t.timeout(120_000);
      const { targets, visits } = await aim(t);
      const [file = '', ...args] = [
        ...prefix,
        process.execPath,
        '--disable-warning=ExperimentalWarning',
        RUN,
        JSON.stringify(targets),
      ];
      const home = await mkdtemp(join(tmpdir(), 'hostile-home-'));
      await chmod(home, 0o777);
      t.teardown(() => rm(home, { recursive: true, force: true }));
      const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', TMPDIR: home, SECRET: 'of the server' };
      const { stdout } = await promisify(execFile)(file, args, { env, timeout: 110_000 });
      const report = JSON.parse(stdout) as Report;
      t.true(Object.keys(report.plugin).length > 60, 'all were tried');
      t.deepEqual(reached(report.plugin), [], 'in the interpreter');
      t.is(report.process.walls.files === 'none', jail, 'whether a jail can be made there');
      if (report.process.found) {
        t.true(Object.keys(report.process.found).length > 40, 'all were tried');
        t.deepEqual(reached(report.process.found), [], 'in the jail, after a break-out');
        t.deepEqual(report.process.interfaces, []);
        t.is(report.process.walls.calls, FILTERS, 'system calls are filtered where bubblewrap is installed');
        if (FILTERS) for (const name of ['tcp', 'abstract socket']) t.is(report.process.found[name], 'EPERM', name);
        if (report.process.walls.user) t.is(report.process.uid, 61_900);
      }
      if (jail) t.true(Object.keys(report.between ?? {}).length > 15, 'all were tried');
      t.deepEqual(reached(report.between ?? {}), [], 'between two tenants, after a break-out');
      t.is(visits(), 0);
      t.deepEqual((await readdir(targets.folder)).sort(), ['secret.txt', 'socket'], 'nothing was written');
    },
  );
}
