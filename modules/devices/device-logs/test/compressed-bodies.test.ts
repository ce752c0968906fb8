/** Bodies with Content-Encoding: gzip, whole, damaged, and larger than they seem. */
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { startTestPlatform } from '#test';
import { newAgent } from './arrange.ts';

const platform = await startTestPlatform();

const { agent } = await newAgent(platform);
test.after.always(() => platform.stop());
const zipped = (value: unknown) => gzipSync(JSON.stringify(value));
const line = { timestamp: new Date().toISOString(), level: 'info', component: 'ws', message: 'm'.repeat(900) };

async function send(method: string, path: string, body: Buffer, coding = 'gzip') {
  const response = await fetch(`${platform.url}/api/v1/agents/${agent.agentId}/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${agent.token}`,
      'content-type': 'application/json',
      'content-encoding': coding,
    },
    body: new Uint8Array(body),
  });
  return { status: response.status, body: (await response.json()) as { received?: number; count?: number } };
}

test('compressed lines and events are stored like others', async (t) => {
  t.deepEqual(await send('POST', 'logs', zipped({ logs: Array(500).fill(line) })), {
    status: 201,
    body: { received: 500 },
  });
  const { timestamp } = line;
  const events = Array.from({ length: 300 }, (_, n) => ({ timestamp, source: 's', eventId: `${n}`, message: 'm' }));
  t.like(await send('PUT', 'eventlogs', zipped({ events })), { status: 200, body: { count: 300 } });
});

test('the size limit of a compressed body applies after inflation', async (t) => {
  const bomb = zipped({ logs: [{ ...line, message: 'm'.repeat(20_000_000) }] });
  t.true(bomb.length < 100_000);
  t.is((await send('POST', 'logs', bomb)).status, 413);
  t.is((await send('PUT', 'eventlogs', bomb)).status, 413);
});

test('a body that cannot be inflated is a bad request', async (t) => {
  t.is((await send('POST', 'logs', Buffer.from('not gzip'))).status, 400);
  t.is((await send('POST', 'logs', zipped({ logs: [line] }).subarray(0, 40))).status, 400, 'cut off');
  t.is((await send('POST', 'logs', zipped({ logs: [line] }), 'zstd')).status, 400, 'a coding that is not spoken');
});
