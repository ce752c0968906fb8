/** Requests that their callers gave up are not begun, and writes that are sent twice are done once. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import test from 'ava';
import { type ErrorBody, startTestPlatform, type Tenant, tenant, until } from '#test';

const platform = await startTestPlatform({ DATABASE_POOL_SIZE: '2' });
test.after.always(() => platform.stop());

/** A process that stands still: no callback runs meanwhile. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const pathOf = ({ siteId }: Tenant) => `/orgs/sites/${siteId}`;
const nameOf = async ({ siteId }: Tenant) =>
  (await platform.sql<{ name: string }>('select name from sites where id = $1', [siteId]))[0]?.name;

/** A connection on which one request has been answered, so that it is accepted and the caller known. */
async function connection(place: Tenant) {
  const { hostname, port } = new URL(platform.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  await once(socket, 'connect');
  const send = (method: string, body: string) => {
    received = '';
    const fields = [
      `authorization: Bearer ${place.orgAdmin.token}`,
      'content-type: application/json',
      'host: localhost',
    ];
    const head = [
      `${method} /api/v1${pathOf(place)} HTTP/1.1`,
      ...fields,
      `content-length: ${Buffer.byteLength(body)}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
  // Right after a standstill a request may be refused that has just been sent.
  await until(async () => {
    send('GET', '');
    await until(() => received.endsWith('}'));
    return received.startsWith('HTTP/1.1 200');
  });
  return { socket, rename: (name: string) => send('PATCH', JSON.stringify({ name })), received: () => received };
}
const connectionsOpen = () =>
  new Promise<number>((resolve) => {
    platform.platform.server?.listener.getConnections((_error, open) => resolve(open));
  });
test.serial('a request whose caller gave up while the process stood still is not begun', async (t) => {
  const place = await tenant(platform);
  const { socket, rename } = await connection(place);
  const { server } = platform.platform;
  const seen = once(server?.listener ?? socket, 'request');
  rename('older');
  socket.destroy();
  standStill(2_000);
  await seen;
  const after = await connection(place);
  after.rename('newer');
  await until(() => after.received().startsWith('HTTP/1.1 200'));
  after.socket.destroy();
  const changes = await platform.audits({ action: 'site.update', orgId: place.orgId });
  t.deepEqual(
    changes.map(({ result }) => result),
    ['success'],
  );
  t.is(await nameOf(place), 'newer');
});

test.serial(
  'a request that waited longer than its time limit is refused, although its caller still waits',
  async (t) => {
    const place = await tenant(platform);
    const before = await nameOf(place);
    const { socket, rename, received } = await connection(place);
    rename('older');
    standStill(11_000);
    await until(() => received() !== '');
    t.regex(received(), /^HTTP\/1\.1 503 [\s\S]*retry-after: 1[\s\S]*"code":"REQUEST_EXPIRED"/);
    t.is(await nameOf(place), before);
    socket.destroy();
  },
);

test.serial('a request whose caller gave up while it waited for a connection of the pool is not begun', async (t) => {
  const place = await tenant(platform);
  const before = await nameOf(place);
  const { app } = platform.platform.tasks.work.database;
  const { socket, rename } = await connection(place);
  const taken = [await app.connect(), await app.connect()];
  rename('older');
  await until(() => app.waitingCount > 0);
  socket.destroy();
  await until(async () => (await connectionsOpen()) === 0);
  for (const client of taken) client.release();
  await until(() => app.waitingCount === 0 && app.idleCount === app.totalCount);
  t.is(await nameOf(place), before);
});

test.serial('PATCH, PUT and DELETE with one Idempotency-Key are done once, whatever happened in between', async (t) => {
  const place = await tenant(platform);
  const { token } = place.partner;
  const call = (method: string, path: string, key: string, body?: object) =>
    platform.call<{ name: string } & ErrorBody>(method, path, { token, body, headers: { 'idempotency-key': key } });
  const key = randomUUID();
  const first = await call('PATCH', pathOf(place), key, { name: 'older' });
  await call('PATCH', pathOf(place), randomUUID(), { name: 'newer' });
  const again = await call('PATCH', pathOf(place), key, { name: 'older' });
  t.deepEqual([again.status, again.body], [200, first.body]);
  t.is(again.headers.get('idempotency-replayed'), 'true');
  t.is(await nameOf(place), 'newer');
  const other = await call('PATCH', pathOf(place), key, { name: 'other' });
  t.is(other.body.error.code, 'IDEMPOTENCY_MISMATCH');

  const made = await platform.call<{ id: string }>('POST', '/orgs/sites', {
    token,
    body: { orgId: place.orgId, name: 'Second' },
  });
  const removal = randomUUID();
  const removed = await call('DELETE', `/orgs/sites/${made.body.id}`, removal);
  t.true(removed.status < 300);
  t.is((await call('DELETE', `/orgs/sites/${made.body.id}`, removal)).status, removed.status);
  t.is((await call('DELETE', `/orgs/sites/${made.body.id}`, randomUUID())).status, 404);
});
