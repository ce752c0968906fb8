/** Sending again: single messages, stretches of time, tests. */
import test from 'ava';
import { codeOf, hurry, openPlatform, openTenant, receiver, until } from './ground.ts';

const platform = await openPlatform();
const stop = await platform.platform.tasks.startBackground();
test.after.always(async () => {
  await stop();
  await platform.stop();
});

/** A webhook with so many deliveries that have failed for good. */
async function failed(count: number) {
  const at = await openTenant(platform);
  const to = await receiver();
  to.answer = () => ({ status: 500 });
  const { id } = await at.webhook(to.url);
  await at.emitMany(count);
  await until('tried', async () => (await at.deliveries(id, '&status=retrying')).length === count);
  await platform.sql(`update webhook_queue set attempts = 9 where webhook_id = $1`, [id]);
  await hurry(platform, id);
  await until('failed', async () => (await at.deliveries(id, '&status=failed')).length === count);
  const sent = to.got.map(({ headers, text }) => ({ id: headers['webhook-id'], text }));
  to.got.length = 0;
  to.answer = () => ({});
  return { at, to, id, sent };
}

test('a failed message is sent again with its id and text, once', async (t) => {
  const { at, to, id, sent } = await failed(1);
  t.teardown(() => to.close());
  const [delivery] = await at.deliveries(id);
  const retry = () => at.call<{ deliveryId: string }>('POST', `/webhooks/${id}/retry/${delivery?.id}`, {});
  const both = await Promise.all([retry(), retry()]);
  t.deepEqual(both.map(({ status }) => status).sort(), [202, 409]);
  await until('it arrives', () => to.got.length === 1);
  t.is(to.got[0]?.headers['webhook-id'], sent[0]?.id);
  t.is(to.got[0]?.text, sent[0]?.text);
  const again = await until('noted', async () => (await at.deliveries(id, '&status=delivered'))[0]);
  t.like(again, { trigger: 'manual_retry', retryOfId: delivery?.id, attempts: 1 });
  t.is(codeOf(await retry()), 'ALREADY_PENDING', 'it has arrived');
  t.is(codeOf(await at.call('POST', `/webhooks/${id}/retry/${again.id}`, {})), 'NOT_FAILED');
  t.is((await at.call('POST', `/webhooks/${id}/retry/${id}`, {})).status, 404);
  const stranger = await openTenant(platform);
  t.is((await stranger.call('POST', `/webhooks/${id}/retry/${delivery?.id}`, {})).status, 404);
});

test('a stretch of time is replayed: what failed, or all of it', async (t) => {
  const from = new Date(Date.now() - 60_000).toISOString();
  const { at, to, id, sent } = await failed(12);
  t.teardown(() => to.close());
  const to_ = new Date(Date.now() + 60_000).toISOString();
  const replay = (body: object) => at.call<{ queued: number; next: null }>('POST', `/webhooks/${id}/replay`, body);
  t.is((await replay({ from, to: from })).status, 400);
  t.is((await replay({ from: '2020-01-01T00:00:00Z', to: from })).body.queued, 0);
  const both = await Promise.all([replay({ from, to: to_ }), replay({ from, to: to_ })]);
  t.deepEqual(
    both.map(({ body }) => body.queued).sort((a, b) => a - b),
    [0, 12],
    'one message is under way once',
  );
  await until('all arrive', () => to.got.length === 12);
  t.deepEqual(
    to.got.map(({ headers }) => headers['webhook-id']).sort(),
    [...new Set(sent.map((one) => one.id))].sort(),
  );
  await until('noted', async () => (await at.deliveries(id, '&status=delivered')).length === 12);
  t.is((await replay({ from, to: to_ })).body.queued, 0, 'nothing that failed is missing any more');
  t.is((await at.call('PATCH', `/webhooks/${id}`, { status: 'paused' })).status, 200);
  t.is(codeOf(await replay({ from, to: to_ })), 'INVALID_STATE');
  const events = await platform.sql(`select from events where org_id = $1 and name not like 'webhooks.%'`, [at.orgId]);
  t.is(events.length, 12, 'nothing happens again');
});

test('a test goes to a paused webhook, once, and counts as no failure', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  to.answer = () => ({ status: 404 });
  const { id } = await at.webhook(to.url);
  await at.call('PATCH', `/webhooks/${id}`, { status: 'paused' });
  const tested = await at.call<{ deliveryId: string }>('POST', `/webhooks/${id}/test`, { event: 'device.online' });
  t.is(tested.status, 202);
  await until('it failed', async () => (await at.deliveries(id, '&status=failed'))[0]?.id === tested.body.deliveryId);
  t.like(to.got[0]?.body, { type: 'device.online', data: { test: true } });
  t.like(await at.read(id), { status: 'paused', consecutiveFailures: 0, failureCount: 0 });
  t.is(codeOf(await at.call('POST', `/webhooks/${id}/test`, { event: 'no.such' })), 'UNKNOWN_EVENT');
  const noted = await platform.audits({ action: 'webhook.test', orgId: at.orgId });
  t.is(noted.length, 1);
});
