/** Push messages by ntfy, with a server in memory. */
import { createHarness, runNotificationChannelContract } from '@quartermaster/plugin-testkit';
import test from 'ava';
import plugin from '../index.js';
import manifest from '../plugin.json' with { type: 'json' };

const MESSAGE = {
  ...{ id: 'm-1', title: 'Disk full on pc-1', message: 'C: has 2 % left', severity: 'critical' },
  ...{ url: 'https://rmm.example.com/alerts/1', data: { kind: 'trigger' }, settings: {} },
};
function open(config: object = {}) {
  const harness = createHarness({ manifest, plugin, config: { topic: 'ops', ...config } });
  harness.http.on('POST https://ntfy.sh/', { body: { id: 'hwQ2YpKdmg' } });
  return {
    harness,
    send: (more: object = {}) => harness.provider('notificationChannel', 'push', 'send', { ...MESSAGE, ...more }),
    body: () => harness.http.requests.at(-1)?.json() as { message: string },
  };
}

test('a message is published with title, priority, tags and what a tap opens; its id is the reference', async (t) => {
  const { harness, send, body } = open({ token: 'tk_secret' });
  t.deepEqual(await send(), { delivered: true, reference: 'hwQ2YpKdmg' });
  t.is(harness.http.requests[0]?.headers.authorization, 'Bearer tk_secret');
  t.deepEqual(body(), {
    ...{ topic: 'ops', title: 'Disk full on pc-1', message: 'C: has 2 % left', priority: 5 },
    ...{ tags: ['rotating_light'], click: MESSAGE.url },
  } as never);
  t.deepEqual(harness.assertNoUndeclaredCapabilities(), []);
});

test('severities become priorities, and what is resolved is marked as such', async (t) => {
  const { send, body } = open();
  for (const [severity, priority] of [
    ...([
      ['critical', 5],
      ['high', 4],
      ['medium', 3],
    ] as const),
    ...([
      ['low', 2],
      ['info', 1],
    ] as const),
  ]) {
    await send({ severity });
    t.like(body(), { priority } as never);
  }
  await send({ data: { kind: 'resolved' } });
  t.like(body(), { priority: 3, tags: ['white_check_mark'] } as never);
});

test('a channel may have a topic and tags of its own', async (t) => {
  const { send, body } = open();
  await send({ settings: { topic: 'on-call', tags: ['server'] } });
  t.like(body(), { topic: 'on-call', tags: ['rotating_light', 'server'] } as never);
});

test('long messages are cut below what becomes a file, between characters', async (t) => {
  const { send, body } = open();
  await send({ message: 'ü€'.repeat(2_000) });
  const { message } = body();
  t.true(Buffer.byteLength(message) <= 4_000 && message.endsWith('…') && !message.includes('\ufffd'));
});

test('a server that is away is asked again, a topic that is forbidden is not', async (t) => {
  const { harness, send } = open();
  harness.http.on('POST https://ntfy.sh/', { status: 503 });
  t.like(await t.throwsAsync(send()), { code: 'RETRYABLE' });
  harness.http.on('POST https://ntfy.sh/', { status: 403, body: { error: 'forbidden' } });
  t.like(await t.throwsAsync(send()), { code: 'PERMANENT' });
});

void runNotificationChannelContract({
  ...{ manifest, plugin, config: { topic: 'ops', token: 'tk_secret' }, key: 'push' },
  works: (http) => http.on('POST https://ntfy.sh/', { body: { id: 'x' } }),
  test: (title, run) => test(title, (t) => t.notThrowsAsync(run)),
});
