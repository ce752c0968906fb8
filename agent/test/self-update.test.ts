/** When the agent updates itself: by the offer of a heartbeat or by a command, never while commands run, and what it tells. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { access, readFile, writeFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { packTrustList } from '#agent-protocol';
import { trustKeyOf } from '../signing/folder.ts';
import { signTrustList } from '../signing/trust-list.ts';
import type { AgentOptions } from '../src/agent-options.ts';
import { beginUpdates, type Installed } from '../src/update/self-update.ts';
import { acceptTrustList } from '../src/update/trust.ts';
import { type Answer, type FakeServer, refusal } from './fake-server.ts';
import { bench, QUICK } from './harness.ts';
import { type Change, ground, script, trustKey } from './update-ground.ts';

const URL_2 = '/api/v1/agent-versions/2.0.0/download?platform=linux&arch=amd64&component=agent&agentId=agent-1';
const rawKey = (key: KeyObject): string => trustKeyOf('id', key).slice('id:'.length);
const OFFER = { version: '2.0.0', url: URL_2, sha256: '0'.repeat(64) };

/** An agent of version 1.0.0 whose server offers 2.0.0; `more` goes to the ground under the new program. */
async function setup(t: ExecutionContext, more: Change = {}, body = script('2.0.0'), pinned = [trustKey]) {
  const own = await ground(t, body, more);
  const at = await bench(t);
  const { server } = at;
  const enrolled = JSON.parse(await readFile(at.stateFile, 'utf8'));
  await writeFile(at.stateFile, JSON.stringify({ ...enrolled, manifestTrustKeys: pinned }));
  const link = await own.updater.link();
  const others: { before?: (path: string) => Answer | undefined } = {};
  server.before = ({ path }) => {
    if (path.startsWith('/agent-versions/2.0.0/download')) return { status: 200, body: link };
    if (path.startsWith('/agent-versions/latest')) return { status: 200, body: OFFER };
    return others.before?.(path);
  };
  const installed: Installed = {
    ...{ component: 'agent', version: '1.0.0', platform: 'linux', arch: 'amd64' },
    ...{ program: own.program, record: own.record },
  };
  const run = async (change: Partial<AgentOptions> = {}, version = '1.0.0') => {
    const { began, attach } = await beginUpdates({ ...installed, version });
    return { began, ...at.run({ updates: attach, timing: { ...QUICK, trial: 10_000 }, ...change }) };
  };
  return { ...own, ...at, run, others };
}

const steps = (server: FakeServer) =>
  server.calls('/update-status').map(({ body }) => [body.state, body.reason].join(' ').trim());

test('what a heartbeat offers is installed, reported step by step, and confirmed by the first beat of the new version', async (t) => {
  const { server, run, text, asked, program } = await setup(t);
  server.heartbeat = { ...server.heartbeat, upgradeTo: OFFER };
  t.is(await (await run()).ended, 'updated');
  t.deepEqual(steps(server), ['downloading', 'verifying', 'installing', 'restarting']);
  t.like(server.calls('/update-status')[0]?.body, { component: 'agent', targetVersion: '2.0.0' });
  t.is(await text(), script('2.0.0'));
  t.deepEqual(asked, [undefined], 'the token goes to the server, not to where the file lies');
  const linked = server.seen.find(({ path }) => path.startsWith('/agent-versions/'));
  t.is(linked?.headers.authorization, 'Bearer old-auth');
  server.heartbeat = {};
  const next = await run({}, '2.0.0');
  t.is(next.began, 'new');
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 1);
  await next.stop();
  await t.throwsAsync(access(`${program}.previous`));
});

test('keys in the answer to a heartbeat are not trusted, and a list that a pinned key signed is', async (t) => {
  const pinned = generateKeyPairSync('ed25519').privateKey;
  const stranger = generateKeyPairSync('ed25519').privateKey;
  const entry = `release-2:${trustKey}`;
  const { server, run, lines, text, stateFile } = await setup(t, {}, script('2.0.0'), [rawKey(pinned)]);
  const later = new Date('2026-02-01T00:00:00.000Z');
  const lists = [
    null,
    signTrustList([entry], stranger, later),
    signTrustList([entry], pinned, later).replace('.', 'x.'),
    packTrustList('{"keys":[]}', sign(null, Buffer.from('{"keys":[]}'), pinned)),
  ];
  for (const trustKeyList of lists) {
    server.heartbeat = { manifestTrustKeys: [trustKey], trustKeyList, upgradeTo: OFFER };
    const before = steps(server).length;
    const { stop } = await run();
    await server.until(() => steps(server).slice(before).includes('failed signature_invalid'));
    await stop();
  }
  t.is(await text(), script('1.0.0'));
  t.true(lines.some((line) => /names 1 update keys that this agent does not trust/.test(line)));
  t.true(lines.some((line) => /no pinned key has signed the list/.test(line)));
  server.heartbeat = { trustKeyList: signTrustList([entry], pinned, later), upgradeTo: OFFER };
  t.is(await (await run()).ended, 'updated');
  t.is(await text(), script('2.0.0'));
  const { manifestTrustKeys, trustListIssuedAt } = JSON.parse(await readFile(stateFile, 'utf8'));
  t.deepEqual([manifestTrustKeys, trustListIssuedAt], [[trustKey], later.toISOString()]);
});

test('an older list does not bring back a withdrawn key', (t) => {
  const key = generateKeyPairSync('ed25519').privateKey;
  const older = signTrustList([`a:${rawKey(key)}`, `b:${trustKey}`], key, new Date('2026-01-01T00:00:00.000Z'));
  const newer = signTrustList([`a:${rawKey(key)}`], key, new Date('2026-02-01T00:00:00.000Z'));
  const first = acceptTrustList(newer, { manifestTrustKeys: [rawKey(key)] });
  t.deepEqual(first?.manifestTrustKeys, [rawKey(key)]);
  t.is(acceptTrustList(older, first ?? { manifestTrustKeys: [] }), undefined);
  t.is(acceptTrustList(newer, first ?? { manifestTrustKeys: [] }), undefined);
});

test('a version that did not start is told of once, also when the server knows nothing of it', async (t) => {
  const { server, run, record, program, others } = await setup(t);
  await record.write({ from: '1.0.0', to: '2.0.0', program, starts: 3 });
  let refusals = 0;
  others.before = (path) => {
    if (!path.endsWith('/update-status')) return undefined;
    refusals += 1;
    return refusals === 1 ? refusal(503, 'UNAVAILABLE') : refusal(404, 'NOT_FOUND');
  };
  const { began, stop } = await run();
  t.is(began, 'rolled_back');
  await server.until(() => steps(server).length === 2);
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 2);
  await stop();
  t.deepEqual(steps(server), ['rolled_back start_failed', 'rolled_back start_failed']);
  t.is(await record.read(), undefined);
});

test('the restart waits until no command runs', async (t) => {
  const { server, run } = await setup(t);
  server.queue.push({ id: 'update-1', type: 'script', payload: { language: 'sh', content: 'sleep 1.5; echo done' } });
  const agent = await run();
  await server.until(() => server.calls('/update-1/start').length > 0);
  server.heartbeat = { ...server.heartbeat, upgradeTo: OFFER };
  t.is(await agent.ended, 'updated');
  t.like(await server.result('update-1'), { status: 'completed', stdout: 'done\n' });
});

test('a command that comes when the download is under way has its end before the restart', async (t) => {
  const { server, run } = await setup(t, {}, '#!/bin/sh\nsleep 1\necho 2.0.0\n');
  server.heartbeat = { ...server.heartbeat, upgradeTo: OFFER };
  const agent = await run();
  await server.until(() => steps(server).includes('verifying'));
  server.queue.push({ id: 'update-2', type: 'script', payload: { language: 'sh', content: 'sleep 2; echo done' } });
  t.is(await agent.ended, 'updated');
  t.like(await server.result('update-2'), { status: 'completed', stdout: 'done\n' });
});

test('the command update_agent is answered when the program is proven, and then it is exchanged', async (t) => {
  const { server, run, text } = await setup(t);
  server.queue.push({ id: 'c-3', type: 'update_agent', payload: {} });
  t.is(await (await run()).ended, 'updated');
  t.like(await server.result('c-3'), { status: 'completed', result: { updatingTo: '2.0.0' } });
  t.is(await text(), script('2.0.0'));
});

test('the command update_agent says why it could not, and that there is nothing to do', async (t) => {
  const { server, run, text } = await setup(t, { manifest: { arch: 'arm64' } });
  server.queue.push({ id: 'c-4', type: 'update_agent', payload: { version: '2.0.0' } });
  server.queue.push({ id: 'c-5', type: 'update_agent', payload: { version: '1.0.0' } });
  const { stop } = await run();
  t.regex((await server.result('c-4')).error ?? '', /^signature_invalid: /);
  t.like(await server.result('c-5'), { status: 'completed', result: { upToDate: true } });
  t.deepEqual(steps(server), ['downloading', 'failed signature_invalid']);
  t.is(await text(), script('1.0.0'));
  await stop();
});

test('an agent that no service would start again answers update_agent with that', async (t) => {
  const { server, run } = await setup(t);
  server.queue.push({ id: 'c-6', type: 'update_agent', payload: {} });
  const { stop } = await run({ updates: undefined });
  t.regex((await server.result('c-6')).error ?? '', /no service would start it again/);
  await stop();
});

test('an update that failed is not begun again with the next beat', async (t) => {
  const { server, run, asked } = await setup(t, { served: script('9.9.9') });
  server.heartbeat = { ...server.heartbeat, upgradeTo: OFFER };
  const { stop } = await run();
  await server.until(() => steps(server).includes('failed checksum_mismatch'));
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 5);
  await stop();
  t.is(asked.length, 1);
});

test('an offer that leads elsewhere gets no token, and one against the owner of the machine nothing at all', async (t) => {
  const { server, run, stateFile } = await setup(t);
  server.heartbeat = { ...server.heartbeat, upgradeTo: { ...OFFER, url: 'http://127.0.0.1:9/' } };
  const first = await run();
  await server.until(() => steps(server).includes('failed download_failed'));
  await first.stop();
  const state = JSON.parse(await readFile(stateFile, 'utf8'));
  await writeFile(stateFile, JSON.stringify({ ...state, autoUpdateEnabled: false }));
  server.heartbeat = { upgradeTo: OFFER };
  const before = steps(server).length;
  const second = await run();
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 5);
  await second.stop();
  t.is(steps(server).length, before);
});

test('a new program that says another version than the signed one is not installed', async (t) => {
  const { server, run, text } = await setup(t, {}, script('3.0.0'));
  server.heartbeat = { ...server.heartbeat, upgradeTo: OFFER };
  const { stop } = await run();
  await server.until(() => steps(server).includes('failed start_failed'));
  t.is(await text(), script('1.0.0'));
  await stop();
});
