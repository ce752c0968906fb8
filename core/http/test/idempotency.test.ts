/** Requests that are sent again with the same Idempotency-Key. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';
import { enroll } from '../../../modules/devices/devices/test/arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const devices = await Promise.all([enroll(platform, place), enroll(platform, place)]);
  const ids = devices.map(({ deviceId }) => deviceId);
  const send = (
    key: string,
    body: object,
    { token = place.partner.token, path = `/devices/${ids[0]}/commands` } = {},
  ) =>
    platform.call<{ data: { id: string } } & ErrorBody>('POST', path, {
      token,
      body,
      headers: { 'idempotency-key': key },
    });
  const count = async () =>
    (await platform.sql('select 1 from device_commands where device_id = any($1)', [ids])).length;
  return { ...place, ids, send, count };
}
const lock = { type: 'lock' };

test('many requests with one key do the work once and all get its answer', async (t) => {
  const { send, count, orgId } = await arrange();
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 4 }, () => send(key, lock)));
  answers.push(await send(key, lock));
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  t.is(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
  t.is(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 4);
  t.is(await count(), 1);
  t.is((await platform.audits({ action: 'device.command.queue', orgId })).length, 1);
});

test('a key belongs to one request of one caller on one route', async (t) => {
  const { send, count, ids, orgId } = await arrange();
  const key = randomUUID();
  await send(key, lock);
  for (const [body, path] of [
    [{ type: 'cancel_reboot' }, `/devices/${ids[0]}/commands`],
    [lock, `/devices/${ids[1]}/commands`],
  ] as const) {
    const other = await send(key, body, { path });
    t.deepEqual([other.status, other.body.error.code], [409, 'IDEMPOTENCY_MISMATCH']);
  }
  const bulk = await send(key, { ...lock, deviceIds: ids }, { path: '/devices/bulk/commands' });
  t.is(bulk.status, 200);
  const somebody = await orgUser(platform, { orgId });
  t.is((await send(key, lock, { token: somebody.token })).status, 201);
  t.is(await count(), 4);
});

test('a request that was refused leaves its key free, and after a day so does one that was not', async (t) => {
  const { send, count } = await arrange();
  const key = randomUUID();
  t.is((await send(key, { type: 'reboot', payload: { x: 1 } })).status, 400);
  t.is((await send(key, lock)).status, 201);
  await platform.sql(`update idempotency_keys set created_at = now() - interval '25 hours' where key = $1`, [key]);
  t.is((await send(key, { type: 'cancel_reboot' })).status, 201);
  t.is(await count(), 2);
});

test('an answer that holds a secret is kept sealed', async (t) => {
  const { partner, orgId } = await arrange();
  const key = randomUUID();
  const body = { orgId, name: 'Agents', scopes: ['devices:read'] };
  const make = () =>
    platform.call<{ key: string }>('POST', '/api-keys', {
      token: partner.token,
      body,
      headers: { 'idempotency-key': key },
    });
  const [first, again] = [await make(), await make()];
  t.is(first.status, 201);
  t.deepEqual(again.body, first.body);
  const [row] = await platform.sql<{ text: string }>(
    'select row_to_json(k)::text as text from idempotency_keys k where key = $1',
    [key],
  );
  t.truthy(row);
  t.false(row?.text.includes(first.body.key));
});

test('keys that are too long are refused', async (t) => {
  const { send, count } = await arrange();
  t.is((await send('x'.repeat(129), lock)).status, 400);
  t.is(await count(), 0);
});
