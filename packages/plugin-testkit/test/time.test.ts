/** Time in the harness: it stands still, passes when nothing else can happen, and ends what takes too long. */
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Plugin } from '@quartermaster/plugin-sdk';
import test from 'ava';
import { deskHarness, harnessOf, offline, wants } from './plugins.ts';

const HOUR = 3_600_000;
const never = () => new Promise(() => undefined);

test('the clock of the plugin is the one of the harness, and nobody else sees it', async (t) => {
  const before = Date.now();
  const harness = harnessOf({
    async go() {
      const start = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      await pause(5_000);
      return [new Date(start).toISOString(), Date.now() - start, new Date() instanceof Date];
    },
  });
  t.deepEqual(await harness.invoke('go'), ['2026-01-05T08:00:00.000Z', 25_000, true]);
  t.is(harness.now.toISOString(), '2026-01-05T08:00:25.000Z');
  await harness.advance(HOUR);
  t.is(harness.now.toISOString(), '2026-01-05T09:00:25.000Z');
  t.true(Date.now() >= before && Date.now() < before + 60_000);
});

test('a handler that takes too long fails, is told by its signal, and what it does then is refused', async (t) => {
  const seen: unknown[] = [];
  const harness = harnessOf(
    {
      async slow(_call, ctx) {
        const { promise, resolve } = Promise.withResolvers<void>();
        ctx.signal.addEventListener('abort', () => resolve());
        await promise;
        await ctx.kv.set('late', 1).catch((error: { code: string }) => seen.push(error.code));
        return 'late';
      },
    },
    { permissions: wants('kv') },
    { patienceMs: 10 },
  );
  t.like(await t.throwsAsync(harness.invoke('slow')), {
    code: 'TIMEOUT',
    message: 'It did not answer within 30000 ms',
  });
  t.deepEqual(seen, ['INVALID_TOKEN']);
  t.deepEqual(harness.kv.values, {});
  t.true(harness.logs.some(({ message }) => message === 'A result came after its deadline and was discarded'));
});

test('one that does not even end then would lose its process', async (t) => {
  const harness = harnessOf({ hang: never }, {}, { patienceMs: 10, limits: { wallMsPerCall: 1_000 } });
  t.like(await t.throwsAsync(harness.invoke('hang')), { code: 'TIMEOUT', message: 'It did not answer within 1000 ms' });
  t.is(harness.now.toISOString(), '2026-01-05T08:00:03.000Z');
  t.true(harness.logs.some(({ message }) => message.startsWith('Its process was ended: action hang')));
});

test('the time of a hook is the one of its manifest', async (t) => {
  const harness = harnessOf(
    { hang: never },
    { permissions: wants('devices:read'), hooks: [{ event: 'device.offline', handler: 'hang', timeoutMs: 500 }] },
    { patienceMs: 10 },
  );
  t.like(await t.throwsAsync(harness.emit(offline)), { code: 'TIMEOUT', message: 'It did not answer within 500 ms' });
});

test('work outside of JavaScript is waited for', async (t) => {
  const go = async () => (await promisify(gzip)('x'.repeat(100_000))).length;
  const harness = harnessOf({ go }, {}, { patienceMs: 60_000 });
  t.true(Number(await harness.invoke('go')) > 10);
  t.is(harness.now.toISOString(), '2026-01-05T08:00:00.000Z', 'and takes no time');
});

test('a server that answers late costs that time, and one that takes too long is no answer', async (t) => {
  const harness = deskHarness();
  harness.http.on('POST https://desk.example/tickets', { afterMs: 4_000, body: {} });
  await harness.emit(offline, { times: 1 });
  t.is(harness.now.toISOString(), '2026-01-05T08:00:04.000Z');
  harness.http.on('POST https://desk.example/tickets', { afterMs: 20_000, body: {} });
  await t.throwsAsync(harness.emit(offline), { message: 'desk.example did not answer within 15000 ms' });
});

test('what was put off runs when its time has come, once for a name and a time', async (t) => {
  const harness = harnessOf(
    {
      async go(_call, ctx) {
        const at = new Date(Date.now() + HOUR);
        for (const n of [1, 2]) await ctx.schedule.once('later', at, { n });
        await ctx.schedule
          .once('later', new Date(Date.now() + 400 * 24 * HOUR))
          .catch((error) => ctx.kv.set('far', error.code));
      },
      later: (occurrence, ctx) => ctx.kv.set('ran', { n: occurrence.data.n, now: new Date().toISOString() }),
    },
    { permissions: wants('kv') },
  );
  await harness.invoke('go');
  t.is(harness.planned.length, 1);
  await harness.advance(HOUR - 1);
  t.deepEqual(harness.kv.values, { far: 'INVALID_PARAMS' });
  await harness.advance(1);
  t.like(harness.kv.values, { ran: { n: 2, now: '2026-01-05T09:00:00.000Z' } });
  t.is(harness.planned.length, 0);
});

test('calls, requests and lines have the rates of the server, by its minute', async (t) => {
  const harness = harnessOf(
    {
      async fetch(_call, ctx) {
        await ctx.http.fetch('https://api.example.com/');
      },
      talk: (_call, ctx) => {
        for (const n of [1, 2, 3, 4]) ctx.log.info(`line ${n}`);
      },
    },
    { permissions: wants('http'), egress: ['api.example.com'] },
    { limits: { egressPerMinute: 2, logPerMinute: 3, callsPerMinute: 4 } },
  );
  harness.http.on('https://api.example.com/', {});
  await harness.invoke('fetch');
  await harness.invoke('fetch');
  t.like(await t.throwsAsync(harness.invoke('fetch')), { code: 'RATE_LIMITED' });
  await harness.invoke('talk');
  t.deepEqual(harness.logs.map(({ message }) => message).slice(-4), [
    'line 1',
    'line 2',
    'line 3',
    'More than 3 lines within a minute: the rest is dropped',
  ]);
  t.like(await t.throwsAsync(harness.invoke('fetch')), { code: 'BUSY', afterMs: 60_000 });
  await harness.advance(60_000);
  await harness.invoke('fetch');
  t.is(harness.http.requests.length, 3);
});

test('people get ten notices of a plugin a minute', async (t) => {
  const send: NonNullable<Plugin['handlers']>[string] = (_call, ctx) =>
    ctx.api.notifications.send({ title: 'Mind', message: 'the disk' });
  const harness = harnessOf({ send }, { permissions: wants('notifications:send') });
  for (let n = 0; n < 10; n += 1) await harness.invoke('send');
  t.like(await t.throwsAsync(harness.invoke('send')), { code: 'RATE_LIMITED' });
  t.is(harness.notifications.length, 10);
});

test('events of plugins follow on each other five times at most', async (t) => {
  const harness = harnessOf(
    { hear: (event, ctx) => ctx.events.emit('heard', event.data) },
    { hooks: [{ event: 'plugin.event', handler: 'hear' }] },
  );
  await harness.emit({ type: 'plugin.event', data: { a: 1 }, depth: 4 }, { times: 1 });
  t.deepEqual(harness.emitted, [{ name: 'heard', data: { a: 1 }, depth: 5 }]);
  t.like(await t.throwsAsync(harness.emit({ type: 'plugin.event', depth: 5 })), { code: 'RATE_LIMITED' });
});

test('the plugin finds the globals that a server leaves it, and console is its log', async (t) => {
  const harness = harnessOf({
    go: () => {
      console.warn('Mind', { a: 1 });
      return [typeof fetch, typeof WebSocket, typeof URL];
    },
  });
  t.deepEqual(await harness.invoke('go'), ['undefined', 'undefined', 'function']);
  t.like(harness.logs[0], { level: 'warn', message: 'Mind {"a":1}', hook: 'action go' });
  t.is(typeof fetch, 'function');
});
