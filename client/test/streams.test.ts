/** Following a stream: nothing is lost between two connections, and it ends when the caller or the server says so for good. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { ApiError } from '../src/api-error.ts';
import { createClient } from '../src/client.ts';

/** A server that treats each connection as the script says, and the positions from which it was asked. */
async function serving(script: ((response: ServerResponse) => void)[]) {
  const from: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const begin = script[from.length];
    from.push(request.headers['last-event-id'] as string | undefined);
    if (begin) begin(response);
    else response.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ baseUrl, retries: { baseMs: 1, most: 1 } });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { client, from, close };
}
const events = (text: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(text);
};

test('after an end, a break in the middle of an event and a server that is away it goes on behind the last event', async (t) => {
  const server = await serving([
    (response) => {
      events(': hello\n\nid: 1\nevent: audit\ndata: {"n":1}\n\nid: 2\nda')(response);
      response.end('ta: {"n":2}\n\n');
    },
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 3\ndata: line\ndata: two\n\nid: 4\ndata: {"never"', () => response.destroy());
    },
    (response) => response.writeHead(503).end(),
    (response) => response.writeHead(503).end(),
    (response) => response.writeHead(503).end(),
    events('id: 4\ndata: {"n":4}\n\n'),
  ]);
  t.teardown(server.close);
  const seen: unknown[] = [];
  for await (const { id, event, data } of server.client.stream('/audit-logs/stream', { query: { lastEventId: '0' } })) {
    seen.push([id, event, data]);
    if (id === '4') break;
  }
  t.deepEqual(seen, [
    ['1', 'audit', { n: 1 }],
    ['2', 'message', { n: 2 }],
    ['3', 'message', 'line\ntwo'],
    ['4', 'message', { n: 4 }],
  ]);
  t.deepEqual(server.from, ['0', '2', '3', '3', '3', '3']);
});

test('a refusal for good ends it, and so does the caller', async (t) => {
  const server = await serving([
    (response) =>
      response
        .writeHead(403, { 'content-type': 'application/json' })
        .end('{"error":{"code":"FORBIDDEN","message":"no","details":[]}}'),
    events(': nothing yet\n\n'),
  ]);
  t.teardown(server.close);
  const error = await t.throwsAsync(server.client.stream('/audit-logs/stream').next(), { instanceOf: ApiError });
  t.is(error?.code, 'FORBIDDEN');
  const leaving = new AbortController();
  const waiting = server.client.stream('/audit-logs/stream', { signal: leaving.signal }).next();
  leaving.abort();
  t.deepEqual(await waiting, { done: true, value: undefined });
});
