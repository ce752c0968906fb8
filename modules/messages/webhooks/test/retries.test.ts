/** Attempts that fail: when they are repeated, what ends them, and what becomes of the webhook. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { retryAfterOf } from '#core';
import { switchModule, systemUser } from '#test';
import { retryDelay } from '../../../../core/delivery/retry-delay.ts';
import { webhookQueue } from '../services/sending/queue.ts';
import { hurry, openPlatform, openTenant, receiver, type Sent, until } from './ground.ts';

const delayAfter = (attempt: number, retryAfter: number | null, random?: () => number) =>
  retryDelay(webhookQueue.retryDelays, attempt, retryAfter, random);

const platform = await openPlatform();
const admin = await systemUser(platform);
const stop = await platform.platform.tasks.startBackground();
test.after.always(async () => {
  await stop();
  await platform.stop();
});

test('ten attempts take some three days, and what a receiver asks for counts', (t) => {
  const all = Array.from({ length: 9 }, (_, n) => delayAfter(n + 1, null, () => 0.5));
  t.is(all[0], 5);
  t.is(
    all.reduce((sum, one) => sum + one, 0),
    272_105,
  );
  t.is(
    delayAfter(2, null, () => 0),
    240,
  );
  t.is(
    delayAfter(2, null, () => 1),
    360,
  );
  t.is(delayAfter(1, 3600), 3600);
  t.is(delayAfter(1, 1_000_000), 86_400);
  t.is(retryAfterOf(503, '120'), 120);
  t.is(retryAfterOf(200, '120'), null);
  t.is(retryAfterOf(429, 'Sat, 21 Nov 2026 12:00:30 GMT', Date.parse('2026-11-21T12:00:00Z')), 30);
  t.is(retryAfterOf(429, 'soon'), null);
});

test('a failed attempt is repeated with the same id and text, until it arrives', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  to.answer = () => (to.got.length === 1 ? { status: 500, body: 'x'.repeat(5000) } : {});
  const { id } = await at.webhook(to.url);
  await at.emit('devices.online', { hostname: 'a' });
  const waiting = await until('it is to be repeated', async () =>
    (await at.deliveries(id)).find(({ status }) => status === 'retrying'),
  );
  t.like(waiting, { attempts: 1, responseStatus: 500, errorCode: 'http', errorMessage: 'HTTP 500' });
  t.is(String(waiting.responseBody).length, 1000);
  t.truthy((await at.read(id)).firstFailureAt);
  const wait = Date.parse(String(waiting.nextRetryAt)) - Date.now();
  t.true(wait > 1000 && wait <= 6000, `${wait} ms`);
  await hurry(platform, id);
  const done = await until('it arrives', async () =>
    (await at.deliveries(id)).find(({ status }) => status === 'delivered'),
  );
  t.like(done, { attempts: 2, nextRetryAt: null, errorCode: null });
  t.is(to.got[0]?.text, to.got[1]?.text);
  t.is(to.got[0]?.headers['webhook-id'], to.got[1]?.headers['webhook-id']);
  t.like(await at.read(id), { consecutiveFailures: 0, firstFailureAt: null, successCount: 1, failureCount: 0 });
});

test('redirects are not followed, and addresses inside are refused when sending too', async (t) => {
  const at = await openTenant(platform);
  const [to, elsewhere] = [await receiver(), await receiver()];
  t.teardown(() => Promise.all([to.close(), elsewhere.close()]));
  to.answer = () => ({ status: 302, headers: { location: elsewhere.url } });
  const { id } = await at.webhook(to.url);
  await at.emit('devices.online', { hostname: 'a' });
  await until('the attempt failed', async () => (await at.deliveries(id))[0]?.status === 'retrying');
  t.is(elsewhere.got.length, 0);
  // As if a name had led elsewhere when it was saved.
  await platform.sql(`update webhooks set url = 'http://169.254.169.254/latest', host = 'x' where id = $1`, [id]);
  await hurry(platform, id);
  const refused = await until('it is refused', async () =>
    (await at.deliveries(id)).find(({ attempts }) => attempts === 2),
  );
  t.is(refused.errorCode, 'blocked_address');
});

test.serial(
  '410 switches the webhook off at once; a test that arrives switches it on, and what waited is sent',
  async (t) => {
    const at = await openTenant(platform);
    const to = await receiver();
    const listens = await receiver();
    t.teardown(() => Promise.all([to.close(), listens.close()]));
    await at.webhook(listens.url, ['webhook.*']);
    const { id } = await at.webhook(to.url);
    to.answer = () => (to.got.length === 1 ? { status: 500 } : { status: 410 });
    await at.emit('devices.online', { hostname: 'first' });
    await until('it waits', async () => (await at.deliveries(id))[0]?.status === 'retrying');
    await at.emit('devices.online', { hostname: 'second' });
    await until('it is off', async () => (await at.read(id)).status === 'failed');
    t.is((await at.read(id)).disabledReason, 'gone');
    await until('others hear of it', () => listens.got.length === 1);
    t.like(listens.got[0]?.body, { type: 'webhook.disabled', data: { webhookId: id, reason: 'gone' } });
    t.like((await platform.audits({ action: 'webhook.disable', orgId: at.orgId }))[0], { resource_id: id });
    await platform.runJobs();
    const mails = await mailsTo(at.orgAdmin.email);
    t.is(mails.filter((mail) => mail.includes('switched off')).length, 1);
    await at.emit('devices.online', { hostname: 'unheard' });

    to.answer = () => ({});
    const tested = await at.call<{ data: object }>('POST', `/webhooks/${id}/test?wait=1`, {});
    t.is(tested.status, 200);
    t.like(tested.body.data, { status: 'delivered', trigger: 'test', eventType: 'webhook.test' });
    await until('it is on', async () => (await at.read(id)).status === 'active');
    t.like(await at.read(id), { disabledReason: null, consecutiveFailures: 0 });
    await until('what waited', () => to.got.some(({ body }, n) => n > 1 && body.data.hostname === 'first'));
    t.false(to.got.some(({ body }) => body.data.hostname === 'unheard'));
  },
);

async function mailsTo(email: string): Promise<string[]> {
  const folder = join(platform.dataDir, 'mail');
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  return texts.filter((text) => text.includes(email)).map((text) => text.replace(/=\r?\n/g, ''));
}

test.serial(
  'administrators hear of it at 5, 10 and 15 failed deliveries in a row, and at 20 it is switched off',
  async (t) => {
    const at = await openTenant(platform);
    const to = await receiver();
    t.teardown(() => to.close());
    to.answer = () => ({ status: 500 });
    const { id } = await at.webhook(to.url);
    const fail = async (count: number, of: number) => {
      await at.emitMany(count);
      await until('tried', async () => (await at.deliveries(id, '&status=retrying')).length === count);
      await platform.sql(`update webhook_queue set attempts = 9 where webhook_id = $1 and attempts > 0`, [id]);
      await hurry(platform, id);
      await until('failed for good', async () => (await at.deliveries(id, '&status=failed')).length === of);
      await platform.runJobs();
      return (await mailsTo(at.orgAdmin.email)).length;
    };
    t.is(await fail(4, 4), 0);
    t.is(await fail(1, 5), 1);
    t.is(await fail(3, 8), 1);
    t.is(await fail(10, 18), 3, 'one for each mark that results pass, not one a delivery');
    t.is(await fail(2, 20), 4);
    t.like(await at.read(id), { status: 'failed', disabledReason: 'failed_deliveries', consecutiveFailures: 20 });
    t.is((await at.call('PATCH', `/webhooks/${id}`, { status: 'paused' })).status, 409);
    t.like((await at.call('PATCH', `/webhooks/${id}`, { status: 'active' })).body.data, { consecutiveFailures: 0 });
  },
);

test('a delivery that waits is sent at once when it is asked for, and its success lets the rest follow', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  await to.close();
  const { id } = await at.webhook(to.url);
  await at.emitMany(8);
  await until('the host is spared', async () => (await at.deliveries(id, '&status=retrying')).length >= 5);
  await platform.sql(
    `update webhook_queue set due_at = now() + interval '20 hours' where webhook_id = $1 and lease is null and attempts > 0`,
    [id],
  );
  const repaired = await receiver();
  t.teardown(() => repaired.close());
  const host = new URL(repaired.url).host;
  // The server comes back under its address.
  await platform.sql('update webhooks set url = $2, host = $3 where id = $1', [id, repaired.url, host]);
  await platform.sql('update delivery_hosts set host = $2 where host = $1', [new URL(to.url).host, host]);
  const [first] = await at.deliveries(id, '&status=retrying');
  const asked = await at.call<{ deliveryId: string }>('POST', `/webhooks/${id}/retry/${first?.id}`, {});
  t.deepEqual([asked.status, asked.body.deliveryId], [202, first?.id]);
  await until('all eight arrive', async () => (await at.deliveries(id, '&status=delivered')).length === 8);
  t.is(repaired.got.length, 8);
});

test('a replay sends what waits at once, and successes hurry a message that always fails once an hour', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  to.answer = ({ body }) => (body.data.hostname === 'poison' || to.got.length === 1 ? { status: 500 } : {});
  const { id } = await at.webhook(to.url);
  await at.emit('devices.online', { hostname: 'good' });
  await until('it waits', async () => (await at.deliveries(id, '&status=retrying')).length === 1);
  await platform.sql(`update webhook_queue set due_at = now() + interval '20 hours' where webhook_id = $1`, [id]);
  const [from, to_] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  const replayed = await at.call<{ queued: number }>('POST', `/webhooks/${id}/replay`, { from, to: to_ });
  t.deepEqual([replayed.status, replayed.body.queued], [202, 1]);
  await until('it arrives', async () => (await at.deliveries(id, '&status=delivered')).length === 1);
  await at.emit('devices.online', { hostname: 'poison' });
  const attempts = async () => (await at.deliveries(id, '&status=retrying'))[0]?.attempts;
  await until('it fails', async () => (await attempts()) === 1);
  for (const [n, expected] of [
    [2, 2],
    [3, 2],
  ] as const) {
    await platform.sql(
      `update webhook_queue set due_at = now() + interval '20 hours' where webhook_id = $1 and lease is null`,
      [id],
    );
    await at.emit('devices.online', { hostname: `good ${n}` });
    await until('the good one arrives', async () => (await at.deliveries(id, '&status=delivered')).length === n);
    await until('it was tried', async () => (await attempts()) === expected);
  }
});

test('what waits is paused while webhooks are off for its organization, and is sent when they are on again', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  to.answer = () => (to.got.length <= 2 ? { status: 500 } : {});
  const { id } = await at.webhook(to.url);
  await at.emit('devices.online', { hostname: 'kept' });
  await at.emit('devices.online', { hostname: 'too old' });
  await until('both wait', async () => (await at.deliveries(id, '&status=retrying')).length === 2);
  await switchModule(platform, at, 'webhooks', false);
  await hurry(platform, id);
  const seen = async () =>
    (await at.call<{ data: Sent[] }>('GET', `/webhooks/${id}/deliveries?status=paused`, undefined, admin)).body.data;
  t.deepEqual(
    (await seen()).map(({ status, nextRetryAt }) => [status, nextRetryAt]),
    [
      ['paused', null],
      ['paused', null],
    ],
  );
  const pending = await at.call<{ data: Sent[] }>(
    'GET',
    `/webhooks/${id}/deliveries?status=retrying`,
    undefined,
    admin,
  );
  t.deepEqual(pending.body.data, []);
  const [other, elsewhere] = [await openTenant(platform), await receiver()];
  t.teardown(() => elsewhere.close());
  await other.webhook(elsewhere.url);
  await other.emit('devices.online', { hostname: 'next door' });
  await until('the queue works meanwhile', () => elsewhere.got.length === 1);
  t.is(to.got.length, 2);
  await platform.sql(
    `update webhook_queue q set created_at = now() - interval '25 hours' from webhook_deliveries d
     where d.id = q.id and d.payload -> 'data' ->> 'hostname' = 'too old'`,
  );
  await switchModule(platform, at, 'webhooks', true);
  await until('it is sent', async () => (await at.deliveries(id, '&status=delivered')).length === 1);
  const given = await until('the other is given up', async () => (await at.deliveries(id, '&status=failed'))[0]);
  t.like(given, { errorCode: 'cancelled', attempts: 1 });
  t.deepEqual(
    to.got.slice(2).map(({ body }) => body.data.hostname),
    ['kept'],
  );
});

test('five days without a success switch it off, however few deliveries there were', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  to.answer = () => ({ status: 500 });
  const { id } = await at.webhook(to.url);
  await platform.sql(`update webhooks set first_failure_at = now() - interval '5 days' where id = $1`, [id]);
  await at.emit('devices.online', { hostname: 'a' });
  await until('it is off', async () => (await at.read(id)).status === 'failed');
  t.is((await at.read(id)).disabledReason, 'failing_for_days');
});

test('after five connection errors in a row a host is spared for a minute, and one success ends that', async (t) => {
  const at = await openTenant(platform);
  const gone = await receiver();
  await gone.close();
  const host = new URL(gone.url).host;
  const { id } = await at.webhook(gone.url);
  await at.emitMany(8);
  await until('five tried', async () => (await at.deliveries(id, '&status=retrying')).length >= 5);
  const spared = async () =>
    (
      await platform.sql<{ until: Date }>('select paused_until as until from delivery_hosts where host = $1', [host])
    )[0];
  t.true(Number((await spared())?.until) > Date.now() + 30_000);
  const tried = await at.deliveries(id);
  t.deepEqual([...new Set(tried.flatMap(({ errorCode }) => errorCode ?? []))], ['connect']);
  t.is(tried.filter(({ attempts }) => attempts > 0).length, 5, 'the other three wait');
  const to = await receiver();
  t.teardown(() => to.close());
  await at.call('PATCH', `/webhooks/${id}`, { url: to.url });
  await platform.sql('update delivery_hosts set host = $2, paused_until = now() where host = $1', [
    host,
    new URL(to.url).host,
  ]);
  await until('the three arrive', () => to.got.length >= 3);
  await until(
    'nothing is held against it',
    async () => (await platform.sql('select from delivery_hosts')).length === 0,
  );
});
