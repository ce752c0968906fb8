/** Runs the attacks as the user that called it, behind the walls that this user can make; prints what they found as JSON. */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_LIMITS, HostError, packageHash } from '#plugin-sdk/host';
import { Broker } from '../../modules/platform/plugins/services/running/broker/broker.ts';
import { findSandbox } from '../../modules/platform/plugins/services/running/runners/sandbox.ts';
import { Staging } from '../../modules/platform/plugins/services/running/staging.ts';
import { pack } from '../../modules/platform/plugins/test/packages.ts';
import { BREAK_OUT, type Findings, LISTEN, PLACES, PLUGIN, type Targets, TELL } from './attacks.ts';

const targets = JSON.parse(process.argv[2] ?? '{}') as Targets;
const staging = new Staging();

/** The attacks of a plugin in the interpreter. */
async function asPlugin(): Promise<Findings> {
  const broker = new Broker({ place: staging.folder, partnerShare: 1, processors: 1 }, (text) =>
    process.stderr.write(text),
  );
  const { content, manifest } = await pack({}, PLUGIN);
  const folder = await staging.packageFolder(packageHash(content), async () => content);
  await broker.isReady();
  const plugin = broker.start(
    {
      key: 'hostile/',
      partner: 'p',
      folder,
      main: manifest.main,
      runtime: await staging.runtimeFor('interpreter'),
      limits: DEFAULT_LIMITS,
    },
    {
      call: async (_invocation, method) => {
        throw new HostError('PERMISSION_DENIED', `${method} was not granted`);
      },
      note: () => undefined,
    },
  );
  await plugin.start();
  const outcome = await plugin.invoke({
    ...{ id: randomUUID(), kind: 'handler', handler: 'go', hook: 'action go', args: [{ input: targets }], config: {} },
    ...{ org: { id: 'o', name: 'O', timezone: 'UTC' }, timeoutMs: 30_000 },
    causation: { correlationId: randomUUID(), causationId: null, depth: 0, by: [] },
  });
  broker.stop();
  if (!outcome.ok) throw new Error(`${outcome.code} ${outcome.message}`);
  return outcome.result as Findings;
}

/** The same as what it would be that had broken out of the interpreter, and of Node. */
async function asProcess() {
  const sandbox = await findSandbox(staging.folder);
  if (sandbox.walls.files !== 'none') return { walls: sandbox.walls, found: null };
  const folder = await mkdtemp(join(tmpdir(), 'break-out-'));
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'attack.mjs'), BREAK_OUT);
  await writeFile(join(folder, 'package.json'), '{}');
  const { file, args } = sandbox.command(
    { node: process.execPath, runtime: folder, folder, limits: { memoryMb: 128 }, uid: 61_900 },
    ['/runtime/attack.mjs', JSON.stringify(targets)],
  );
  try {
    const { stdout } = await promisify(execFile)(file, args, { env: {}, cwd: '/', timeout: 60_000 });
    return { walls: sandbox.walls, ...(JSON.parse(stdout) as { found: Findings; uid: number; interfaces: string[] }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What one plugin that has broken out for one tenant hands to itself, broken out for another tenant. */
async function between(): Promise<Findings | null> {
  const sandbox = await findSandbox(staging.folder);
  if (sandbox.walls.files !== 'none') return null;
  const folder = await mkdtemp(join(tmpdir(), 'between-'));
  await chmod(folder, 0o755);
  for (const [name, text] of Object.entries({
    'tell.mjs': TELL,
    'listen.mjs': LISTEN,
    'package.json': '{}',
    'plugin.json': '{}',
  }))
    await writeFile(join(folder, name), text);
  const more = JSON.stringify({ ...targets, places: PLACES(targets.folder) });
  const commandOf = (name: string, uid: number) =>
    sandbox.command({ node: process.execPath, runtime: folder, folder, limits: { memoryMb: 128 }, uid }, [
      `/runtime/${name}`,
      more,
    ]);
  const teller = commandOf('tell.mjs', 61_901);
  const listener = commandOf('listen.mjs', 61_902);
  const telling = spawn(teller.file, teller.args, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await new Promise((resolve, reject) => telling.stdout.once('data', resolve).once('end', reject));
    const { stdout } = await promisify(execFile)(listener.file, listener.args, { env: {}, cwd: '/', timeout: 60_000 });
    return JSON.parse(stdout) as Findings;
  } finally {
    telling.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  console.log(JSON.stringify({ plugin: await asPlugin(), process: await asProcess(), between: await between() }));
} finally {
  staging.remove();
}
