/** The same thing again and again, and very many things at once: counted instead of told. */
import test from 'ava';
import { startTestPlatform } from '#test';
import { openTenant } from './ground.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

test.serial('what happens again while its notice is unread is counted there, and mailed once', async (t) => {
  const at = await openTenant(platform);
  const deviceId = await at.device();
  await at.prefer(at.orgAdmin, { type: 'device', email: 'immediate', emailFrom: 'low' });
  for (let time = 0; time < 3; time += 1) {
    await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId });
  }
  const [notice, ...others] = (await at.inbox(at.orgAdmin)).notifications;
  t.deepEqual(others, []);
  t.like(notice, { count: 3, dedupeKey: `agent-silent:${deviceId}` });
  t.is((await at.deliveries(at.orgAdmin)).length, 1);
  // Once it was read, the next is news; and one that is unread again stands for itself.
  const mark = (read: boolean) =>
    platform.call('PATCH', `/notifications/${notice?.id}`, { token: at.orgAdmin.token, body: { read } });
  await mark(true);
  await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId });
  t.is((await mark(false)).status, 200);
  t.deepEqual(
    (await at.inbox(at.orgAdmin)).notifications.map(({ count }) => count),
    [1, 3],
  );
  t.is((await at.deliveries(at.orgAdmin)).length, 2);
});

test.serial('of more than twenty notices of a type in five minutes the rest are one', async (t) => {
  const at = await openTenant(platform);
  const { roleId } = { roleId: at.partnerRoleId };
  await at.tell('users.joined', { userId: at.viewer.id, roleId, partnerId: null }, {}, 25);
  const { notifications, total } = await at.inbox(at.orgAdmin, '?limit=100');
  t.is(total, 21);
  const [storm, ...more] = notifications.filter(({ dedupeKey }) => dedupeKey?.startsWith('storm:'));
  t.deepEqual(more, []);
  t.like(storm, { title: '5 more notices (security)', count: 5, type: 'security' });
  // Other types have room of their own.
  await at.tell('devices.outage', { offline: 9, of: 10 });
  t.is((await at.inbox(at.orgAdmin)).notifications[0]?.title, '9 of 10 devices went silent');
  // Five minutes later they are told one by one again.
  await platform.sql(`update notification_rates set started_at = started_at - interval '6 minutes'`);
  await at.tell('users.joined', { userId: at.viewer.id, roleId, partnerId: null });
  t.is((await at.inbox(at.orgAdmin)).total, 23);
});

test.serial('what an event settles before it was mailed is not mailed', async (t) => {
  const at = await openTenant(platform);
  const deviceId = await at.device();
  await at.prefer(at.orgAdmin, { type: 'device', email: 'digest', emailFrom: 'low' });
  await at.tell('devices.quarantined', { hostname: 'pc', reason: 'new' }, { deviceId });
  t.is((await at.deliveries(at.orgAdmin))[0]?.status, 'pending');
  await at.tell('devices.approved', { hostname: 'pc' }, { deviceId });
  t.like((await at.deliveries(at.orgAdmin))[0], { status: 'suppressed', error: 'settled before it was sent' });
});

test.serial('old notices go: those read a month ago, and all after three', async (t) => {
  const at = await openTenant(platform);
  await platform.sql(
    `insert into user_notifications (user_id, event_id, org_id, type, title, message, read, read_at, created_at, expires_at)
     select $1, gen_random_uuid(), $2, 'system', title, '', read, case when read then now() - age end, now() - age,
       now() - age + interval '90 days'
     from (values ('read long ago', true, interval '31 days'), ('read lately', true, interval '29 days'),
       ('unread for long', false, interval '91 days'), ('unread', false, interval '89 days')) x (title, read, age)`,
    [at.orgAdmin.id, at.orgId],
  );
  await platform.sql(
    `insert into notification_deliveries (user_id, event_id, notification_id, kind, status, due_at, created_at)
     select $1, gen_random_uuid(), gen_random_uuid(), 'email', 'sent', now(), now() - make_interval(days => d)
     from unnest(array[89, 91]) d`,
    [at.orgAdmin.id],
  );
  await platform.sql(
    `select graphile_worker.add_job('notifications/prune-notifications', '{"orgId":null,"requestId":"x","data":{}}')`,
  );
  await platform.runJobs();
  t.deepEqual((await at.inbox(at.orgAdmin)).notifications.map(({ title }) => title).sort(), ['read lately', 'unread']);
  t.is((await at.deliveries(at.orgAdmin)).length, 1);
});
