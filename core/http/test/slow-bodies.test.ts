/** Bodies that do not come, or come too slowly, and many connections of one source. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test from 'ava';
import { startTestPlatform, systemUser, until } from '#test';

const platform = await startTestPlatform();
const few = await startTestPlatform({ HTTP_CONNECTIONS_PER_SOURCE: '5' });
test.after.always(async () => {
  await platform.stop();
  await few.stop();
});

interface Raw {
  socket: Socket;
  /** All that the server has sent. */
  received(): string;
  closed: Promise<unknown>;
}

async function open(url: string, text = ''): Promise<Raw> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  socket.write(text);
  return { socket, received: () => received, closed };
}
const head = (method: string, path: string, ...fields: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'host: localhost', ...fields, '', ''].join('\r\n');
const JSON_OF_100 = ['content-type: application/json', 'content-length: 100'];

test('a connection whose JSON body does not come is ended after ten seconds, whatever the answer', async (t) => {
  const begun = performance.now();
  const post = (path: string, ...fields: string[]) => open(platform.url, `${head('POST', path, ...fields)}{"email":`);
  const login = await post('/api/v1/auth/login', ...JSON_OF_100);
  const fields = ['content-type: application/json', 'transfer-encoding: chunked'];
  const chunked = await open(platform.url, `${head('POST', '/api/v1/auth/login', ...fields)}9\r\n{"email":\r\n`);
  const others = await Promise.all([
    // Refused before its body is read.
    post('/api/v1/devices/provision', ...JSON_OF_100),
    post('/api/v1/nowhere', ...JSON_OF_100),
    open(platform.url, `${head('DELETE', '/api/v1/auth/login', ...JSON_OF_100)}{`),
    open(platform.url, `${head('GET', '/health/live', ...JSON_OF_100)}{`),
    // Not even the header fields end.
    open(platform.url, 'POST /api/v1/auth/login HTTP/1.1\r\nhost: localhost\r\n'),
    open(platform.url),
  ]);
  // One byte now and then is no progress.
  const drip = setInterval(() => {
    for (const { socket } of [login, ...others]) if (!socket.destroyed) socket.write(' ');
  }, 3_000);
  await Promise.all([login, chunked, ...others].map(({ closed }) => closed));
  clearInterval(drip);
  t.true(performance.now() - begun < 15_000);
  t.regex(login.received(), /^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/);
  t.regex(chunked.received(), /^HTTP\/1\.1 408 /);
});

test('a body that is handed on unread may last long at a fair pace, and is ended when it stands still', async (t) => {
  const { token } = await systemUser(platform);
  // Below the length of this test; it holds for all bodies but those that are limited by their pace.
  const { server } = platform.platform;
  if (server) server.listener.requestTimeout = 11_000;
  const fields = [`authorization: Bearer ${token}`, 'content-type: application/gzip', 'content-length: 1000000'];
  const upload = head('POST', '/api/v1/plugins/catalog', ...fields);
  const begun = performance.now();
  const [standing, fair] = [await open(platform.url, upload), await open(platform.url, upload)];
  let left = 1_000_000;
  const pace = setInterval(() => {
    left -= 50_000;
    fair.socket.write(Buffer.alloc(50_000));
    if (left === 0) clearInterval(pace);
  }, 800);
  await standing.closed;
  t.true(performance.now() - begun < 13_000);
  await until(() => fair.received().includes('\r\n\r\n'));
  clearInterval(pace);
  t.true(performance.now() - begun > 15_000);
  t.is(left, 0);
  t.regex(fair.received(), /^HTTP\/1\.1 400 [\s\S]*SIGNATURE_INVALID/);
  fair.socket.destroy();
});

test('one source has a bounded number of connections without an authenticated caller', async (t) => {
  const held = await Promise.all(Array.from({ length: 5 }, () => open(few.url)));
  const refused = await open(few.url);
  await refused.closed;
  t.regex(refused.received(), /^HTTP\/1\.1 429 [\s\S]*retry-after: 10/);
  const { token } = await systemUser(few);
  held[0]?.socket.write(head('GET', '/api/v1/users/me', `authorization: Bearer ${token}`));
  await until(() => held[0]?.received().startsWith('HTTP/1.1 200') ?? false);
  const next = await open(few.url, head('GET', '/health/live'));
  await until(() => next.received().startsWith('HTTP/1.1 200'));
  next.socket.destroy();
  held[1]?.socket.destroy();
  await until(async () => {
    const { socket, received, closed } = await open(few.url, head('GET', '/health/live', 'connection: close'));
    await closed;
    socket.destroy();
    return received().startsWith('HTTP/1.1 200');
  });
  for (const { socket } of held) socket.destroy();
  t.pass();
});
