/** Tokens and refusals: how the agent behaves when its standing with the server changes. */
import { readFile, stat } from 'node:fs/promises';
import test from 'ava';
import { createClient } from '../src/link/client.ts';
import { Crowd } from '../src/simulated/crowd.ts';
import { Rates } from '../src/simulated/rates.ts';
import { enrolled, FakeServer, refusal } from './fake-server.ts';
import { bench, QUICK } from './harness.ts';

const tokenIn = async (file: string): Promise<string> => JSON.parse(await readFile(file, 'utf8')).tokens.authToken;

test('new tokens are confirmed with the new one and used afterwards', async (t) => {
  const { server, run, stateFile } = await bench(t);
  server.heartbeat = { rotateToken: true };
  run();
  const confirm = await server.until(() => server.calls('/rotate-token/confirm')[0]);
  server.heartbeat = {};
  t.is(confirm.headers.authorization, 'Bearer new-auth');
  await server.until(() => server.calls('/heartbeat').at(-1)?.headers.authorization === 'Bearer new-auth');
  t.is(await tokenIn(stateFile), 'new-auth');
  t.is((await stat(stateFile)).mode & 0o777, 0o600);
});

test('a confirmation whose answer was lost is made good although the server counts the new token as current', async (t) => {
  const { server, run, stateFile } = await bench(t);
  server.heartbeat = { rotateToken: true };
  let confirmed = false;
  server.before = ({ path }) => {
    if (!path.endsWith('/confirm')) return undefined;
    if (confirmed) return refusal(409, 'pending_token_required');
    confirmed = true;
    server.heartbeat = {};
    return refusal(502, 'BAD_GATEWAY');
  };
  run();
  await server.until(() => server.calls('/heartbeat').at(-1)?.headers.authorization === 'Bearer new-auth');
  t.is(await tokenIn(stateFile), 'new-auth');
});

test('tokens that expired before their confirmation are dropped and the old ones kept', async (t) => {
  const { server, run, stateFile } = await bench(t);
  server.heartbeat = { rotateToken: true };
  server.before = ({ path }) => {
    if (!path.endsWith('/confirm')) return undefined;
    server.heartbeat = {};
    return refusal(409, 'pending_rotation_expired');
  };
  const { stop } = run();
  await server.until(() => server.calls('/confirm').length === 1);
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 1);
  await stop();
  t.is(await tokenIn(stateFile), 'old-auth');
  t.is(JSON.parse(await readFile(stateFile, 'utf8')).pendingTokens, undefined);
});

test('a refused token makes the agent say so and wait long', async (t) => {
  const { server, run, lines } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/heartbeat') ? refusal(401, 'RE_ENROLLMENT_REQUIRED') : undefined);
  const { stop } = run();
  await server.until(() => server.calls('/heartbeat').length > 0);
  while (!lines.some((line) => /refuses this agent .* 60 minutes/.test(line))) await new Promise(setImmediate);
  await stop();
  t.is(server.calls('/heartbeat').length, 1);
});

test('a device that is gone stops its agent', async (t) => {
  const { server, run } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/heartbeat') ? refusal(410, 'DEVICE_GONE') : undefined);
  t.is(await run().ended, 'gone');
});

test('a quarantined agent goes on beating and does nothing else', async (t) => {
  const { server, run } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/heartbeat') ? undefined : refusal(403, 'device_quarantined'));
  run();
  await server.until(() => server.calls('/hardware').length > 0);
  const others = (): number => server.seen.length - server.calls('/heartbeat').length;
  const before = others();
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 5);
  t.is(others(), before);
});

test('heartbeats come back after a fault of the server', async (t) => {
  const { server, run } = await bench(t);
  let faults = 3;
  server.before = ({ path }) =>
    path.endsWith('/heartbeat') && faults-- > 0 ? refusal(500, 'INTERNAL_ERROR') : undefined;
  run({ intervalSeconds: 3_600 });
  await server.until(() => server.calls('/heartbeat').find(({ status }) => status === 200));
  t.is(server.calls('/heartbeat').length, 4);
});

test('the simulator goes on with the devices it got when the key is used up, and says so', async (t) => {
  const server = await FakeServer.start();
  t.teardown(() => server.stop());
  let uses = 3;
  let number = 0;
  server.before = ({ path }) => {
    if (path !== '/agents/enroll') return undefined;
    if (uses === 0) return refusal(401, 'ENROLLMENT_FAILED', [{ reason: 'exhausted' }]);
    uses -= 1;
    number += 1;
    return { status: 201, body: enrolled(`agent-${number}`) };
  };
  const stop = new AbortController();
  const rates = new Rates();
  const crowd = new Crowd({
    call: rates.counted(createClient(server.url, 5_000)),
    server: server.url,
    key: 'k',
    devices: 5,
    intervalSeconds: 0.05,
    timing: QUICK,
    signal: stop.signal,
    log: () => undefined,
  });
  t.is(await crowd.gather(), 'The enrollment key is used up.');
  t.is(crowd.running, 3);
  await server.until(() => new Set(server.calls('/heartbeat').map(({ path }) => path)).size === 3);
  stop.abort();
  await crowd.ended();
  t.regex(rates.line(3), /^3 devices, [\d.]+ heartbeats\/s/);
});
