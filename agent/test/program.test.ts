/** The agent as the program people start: enrollment, and survival of a kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { FakeServer, refusal } from './fake-server.ts';
import { temporaryFolder } from './harness.ts';

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const SIMULATOR = fileURLToPath(new URL('../src/simulate.ts', import.meta.url));

function start(t: ExecutionContext, folder: string, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function finish(child: ChildProcess): Promise<{ code: number; output: string }> {
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk;
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const [code] = await once(child, 'close');
  return { code, output };
}

async function setup(t: ExecutionContext): Promise<{ server: FakeServer; folder: string; enroll: string[] }> {
  const server = await FakeServer.start();
  t.teardown(() => server.stop());
  const enroll = [PROGRAM, 'enroll', '--server', server.url, '--key', 'key-1', '--secret', 's-1'];
  return { server, folder: await temporaryFolder(t), enroll };
}

test('enroll describes the machine, keeps the state private and does not overwrite it', async (t) => {
  const { server, folder, enroll } = await setup(t);
  t.is((await finish(start(t, folder, ...enroll))).code, 0);
  const [request] = server.calls('/agents/enroll');
  t.like(request?.body, { enrollmentKey: 'key-1', enrollmentSecret: 's-1' });
  for (const name of ['hostname', 'osType', 'osVersion', 'architecture', 'agentVersion']) {
    t.is(typeof request?.body[name], 'string', name);
  }
  const file = join(folder, '.agent', 'state.json');
  t.is((await stat(file)).mode & 0o777, 0o600);
  t.is((await stat(join(folder, '.agent'))).mode & 0o777, 0o700);
  const again = await finish(start(t, folder, ...enroll));
  t.is(again.code, 1);
  t.regex(again.output, /already holds the device d-1/);
  t.is((await finish(start(t, folder, ...enroll, '--reenroll'))).code, 0);
  t.is(server.calls('/agents/enroll').at(-1)?.headers['x-agent-reenrollment-token'], 'old-auth');
});

test('a command that ran when the agent was killed is failed by the next one and not run again', async (t) => {
  const { server, folder, enroll } = await setup(t);
  await finish(start(t, folder, ...enroll));
  const content = 'echo $$ >> ../pids; exec sleep 60';
  const payload = { language: 'bash', content: content.replace('..', folder), timeoutSeconds: 60 };
  const command = { id: 'c-1', type: 'script', payload };
  server.queue.push(command);
  const run = [PROGRAM, 'run', '--interval', '0.05'];
  const first = start(t, folder, ...run);
  await server.until(() => server.calls('/c-1/start').length > 0);
  let pids = '';
  while (pids === '') pids = await readFile(join(folder, 'pids'), 'utf8').catch(() => '');
  t.teardown(() => process.kill(Number(pids), 'SIGKILL'));
  first.kill('SIGKILL');
  await once(first, 'close');
  server.queue.push(command);
  const second = start(t, folder, ...run);
  const ended = finish(second);
  const result = await server.result('c-1');
  t.like(result, { status: 'failed', error: 'agent restarted while the command ran' });
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 2);
  t.is(await readFile(join(folder, 'pids'), 'utf8'), pids);
  second.kill('SIGTERM');
  const { code, output } = await ended;
  t.is(code, 0);
  t.regex(output, /The agent stopped\./);
});

test('both programs say in one sentence why the server took no enrollment', async (t) => {
  const { server, folder, enroll } = await setup(t);
  server.before = () => refusal(401, 'ENROLLMENT_FAILED', [{ reason: 'exhausted' }]);
  const simulate = [SIMULATOR, '--server', server.url, '--key', 'k', '--devices', '3'];
  const ends = await Promise.all([finish(start(t, folder, ...enroll)), finish(start(t, folder, ...simulate))]);
  for (const end of ends) t.deepEqual(end, { code: 1, output: 'The enrollment key is used up.\n' });
});

test('wrong usage ends with a hint at the help', async (t) => {
  const folder = await temporaryFolder(t);
  const { code, output } = await finish(start(t, folder, PROGRAM, 'enroll'));
  t.is(code, 2);
  t.regex(output, /needs --server and --key/);
});
