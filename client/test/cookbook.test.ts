/** Every block of the cookbook runs as it is printed, one after the other, and does what the page says. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import {
  enrollAgent,
  enrollmentKey,
  freePort,
  startTestPlatform,
  type Tenant,
  type TestPlatform,
  tenant,
} from '../../test/kit/index.ts';
import { CLIENT } from '../build/generated.ts';
import { compile, type Packed, pack, run } from './packed.ts';

interface Block {
  language: string;
  code: string;
}
const page = await readFile(join(CLIENT, 'COOKBOOK.md'), 'utf8');
/** The blocks under each heading; what comes before the first is 0. */
const tasks: Block[][] = page
  .split(/^## /m)
  .map((text) =>
    [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({ language, code })),
  );

let platform = {} as TestPlatform;
let packed = {} as Packed;
let place = {} as Tenant;
let standing: (() => Promise<void>) | undefined;
let hostnames: string[] = [];
let env: Record<string, string> = {};
const receiver = createServer((request, response) => {
  request.resume();
  response.end('ok');
});

test.before(async (t) => {
  t.timeout(600_000);
  platform = await startTestPlatform({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', OUTBOUND_ALLOW_HTTP: 'true' });
  // What sends webhooks.
  standing = await platform.platform.tasks.startBackground();
  place = await tenant(platform);
  const agents = [1, 2, 3].map(async () => enrollAgent(platform, { key: await enrollmentKey(platform, place) }));
  await Promise.all(agents);
  hostnames = (await platform.sql<{ hostname: string }>('select hostname from devices')).map((row) => row.hostname);
  receiver.listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  env = {
    PATH: process.env.PATH ?? '',
    QM_URL: platform.url,
    QM_TOKEN: place.partner.token,
    HOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    HOOK_PORT: String(await freePort()),
  };
  packed = await pack();
  const programs = tasks.flatMap((blocks, task) =>
    blocks.filter(({ language }) => language === 'ts').map(({ code }) => ({ name: `task-${task}.ts`, code })),
  );
  for (const { name, code } of programs) await writeFile(join(packed.folder, name), code);
  await writeFile(
    join(packed.folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { target: 'es2023', module: 'nodenext', strict: true, lib: ['es2023'], types: ['node'] },
      files: programs.map(({ name }) => name),
    }),
  );
  t.is(await compile(packed.folder), '');
});
test.after.always(async () => {
  receiver.close();
  await packed.remove?.();
  await standing?.();
  await platform.stop?.();
});

/** Runs a task's shell block after the page's first one, and keeps what it exported. */
async function shell(task: number): Promise<string> {
  const mark = '=== environment ===';
  const [first] = tasks[0] ?? [];
  const own = tasks[task]?.find(({ language }) => language === 'sh');
  const script = `set -e\n${first?.code}\n${own?.code}\nset +x; echo '${mark}'; env`;
  const { stdout } = await run('bash', ['-c', script], { cwd: packed.folder, env, timeout: 240_000 });
  const [said = '', kept = ''] = stdout.split(`${mark}\n`);
  for (const line of kept.split('\n')) {
    const at = line.indexOf('=');
    if (/^(QM_KEY|ORG|DEVICES)=/.test(line)) env[line.slice(0, at)] = line.slice(at + 1);
  }
  return said;
}
async function program(task: number): Promise<string> {
  return (await run(process.execPath, [`task-${task}.js`], { cwd: packed.folder, env })).stdout;
}

/** What each task must have said, in the shell and as a program. */
const SAID: Record<number, (hosts: string[]) => [RegExp[], RegExp[]]> = {
  1: (hosts) => [hosts.map((name) => new RegExp(name)), hosts.map((name) => new RegExp(name))],
  2: (hosts) => [
    hosts.map((name) => new RegExp(`^${name}$`, 'm')),
    hosts.map((name) => new RegExp(`^${name} \\w+`, 'm')),
  ],
  3: () => [[/^\w{20,}\n$/], [/^\w{20,}\n$/]],
  4: () => [[/"changed":3/], [/^3 changed \[\]$/m]],
  5: () => [[/^delivered\n$/], [/^verified \S+ [\w-]{36}\n$/]],
  6: (hosts) => [
    [
      ...hosts.map((name) => new RegExp(`^keep \\S+ ${name}$[\\s\\S]*since then:`, 'm')),
      // More than the one that was changed, where something was still being written at the first walk.
      /since then:\n(keep \S+ \S+\n)+$/,
    ],
    [/^3 devices \S+$/m],
  ],
  7: () => [[/^data: \{"id":/m, /device\.update/], [/^\S+Z device\.\w+ [\w-]{36}\n\S+Z .+\n$/]],
};

test('there are seven tasks, each for the shell and as a program', (t) => {
  t.is(tasks.length, 8);
  for (const blocks of tasks.slice(1))
    t.deepEqual(
      blocks.map(({ language }) => language),
      ['sh', 'ts'],
    );
});

for (const [number, expected] of Object.entries(SAID)) {
  test.serial(`task ${number} does what the page says`, async (t) => {
    t.timeout(300_000);
    const [inShell, inProgram] = expected(hostnames);
    const said = await shell(Number(number));
    for (const one of inShell) t.regex(said, one);
    const told = await program(Number(number));
    for (const one of inProgram) t.regex(told, one);
  });
}
