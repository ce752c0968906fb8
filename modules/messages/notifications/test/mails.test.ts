/** Notices by mail, through a real mail server: one recipient each, threads, retries, quiet hours and digests. */
import test from 'ava';
import { organization, orgUser, startMailServer, startTestPlatform, switchModule } from '#test';
import { retryDelay } from '../../../../core/delivery/retry-delay.ts';
import { notificationQueue } from '../services/delivery/queue.ts';
import { emit, hurry, openTenant, sweep } from './ground.ts';

const office = await startMailServer();
const platform = await startTestPlatform({ MAIL_URL: `smtp://127.0.0.1:${office.port}` });
test.after.always(async () => {
  await platform.stop();
  await office.close();
});
test.beforeEach(() => {
  office.mails = [];
  office.refuse = 0;
});

const delayAfter = (attempt: number, retryAfter: number | null, random?: () => number) =>
  retryDelay(notificationQueue.retryDelays, attempt, retryAfter, random);
const OUTAGE = { offline: 9, of: 10 };
const header = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1] ?? '';
const mailsTo = (email: string) => office.mails.filter(({ to }) => to.includes(email));
/** A preference that has everything mailed. */
const EVERYTHING = { type: 'device', email: 'immediate', emailFrom: 'low' };

test.serial('what is urgent is mailed to each person alone, whoever has said nothing included', async (t) => {
  const at = await openTenant(platform);
  await at.tell('devices.outage', OUTAGE);
  t.is(office.mails.length, 3);
  for (const { to } of office.mails) t.is(to.length, 1);
  t.deepEqual(
    office.mails.flatMap(({ to }) => to).sort(),
    [at.orgAdmin.email, at.partner.email, at.viewer.email].sort(),
  );
  const [delivery] = await at.deliveries(at.orgAdmin);
  t.like(delivery, { kind: 'email', status: 'sent', attempts: 1, error: null });
  t.is(delivery?.provider_message_id, header(mailsTo(at.orgAdmin.email)[0]?.text ?? '', 'Message-ID'));
});

test.serial('what is not urgent is mailed only to who wants that, and to nobody by default', async (t) => {
  const at = await openTenant(platform);
  await at.prefer(at.viewer, EVERYTHING);
  await at.prefer(at.partner, { type: 'device', email: 'none' });
  await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId: await at.device() });
  t.deepEqual(
    office.mails.flatMap(({ to }) => to),
    [at.viewer.email],
  );
  await at.tell('devices.outage', OUTAGE);
  t.is(mailsTo(at.partner.email).length, 0);
});

test.serial('text of devices and tenants is text in the mail too, and starts no line of the header', async (t) => {
  const at = await openTenant(platform);
  await platform.sql('update organizations set name = $2 where id = $1', [at.orgId, 'Doe & <b>Sons</b>']);
  const deviceId = await at.device();
  await platform.sql('update devices set display_name = $2 where id = $1', [deviceId, 'pc\nBcc: x@example.com']);
  await at.prefer(at.orgAdmin, EVERYTHING);
  await at.tell('devices.quarantined', { hostname: 'pc', reason: '<script>alert(1)</script>' }, { deviceId });
  const text = mailsTo(at.orgAdmin.email)[0]?.text ?? '';
  t.is(header(text, 'Subject'), '[Doe & <b>Sons</b>] pc Bcc: x@example.com waits for approval');
  t.is(header(text.split('\n\n')[0] ?? '', 'Bcc'), '');
  const html = text.slice(text.indexOf('text/html'));
  t.true(html.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
  t.false(html.includes('<script>'));
  t.true(text.includes(`http://localhost:3000/devices/${deviceId}`));
});

test.serial('mails about the same thing are one thread', async (t) => {
  const at = await openTenant(platform);
  const mark = () => platform.call('PATCH', '/notifications/read', { token: at.orgAdmin.token, body: { all: true } });
  await at.tell('devices.outage', OUTAGE);
  await mark();
  await at.tell('devices.outage', OUTAGE);
  const [first = '', second = ''] = mailsTo(at.orgAdmin.email).map(({ text }) => text);
  t.not(header(first, 'Message-ID'), header(second, 'Message-ID'));
  t.is(header(first, 'References'), header(second, 'References'));
  t.regex(header(first, 'References'), /^<[0-9a-f]{32}@localhost>$/);
  t.is(header(first, 'In-Reply-To'), header(first, 'References'));
  const [other = ''] = mailsTo(at.viewer.email).map(({ text }) => text);
  t.not(header(other, 'References'), header(first, 'References'));
});

test.serial('a server that refuses for now is asked again six times, with the same message', async (t) => {
  const at = await openTenant(platform);
  office.refuse = 451;
  let begun = Date.now();
  await at.tell('devices.outage', OUTAGE);
  for (const seconds of [30, 120, 600, 1800, 7200]) {
    const [delivery] = await at.deliveries(at.orgAdmin);
    t.is(delivery?.status, 'pending');
    const next = delivery?.next_attempt_at.getTime() ?? 0;
    t.true(next >= begun + seconds * 800 && next <= Date.now() + seconds * 1200, `${next - begun} ms of ${seconds} s`);
    await sweep(platform);
    t.is((await at.deliveries(at.orgAdmin))[0]?.attempts, delivery?.attempts, 'not before it is due');
    begun = Date.now();
    await hurry(platform, at.orgAdmin);
  }
  t.like((await at.deliveries(at.orgAdmin))[0], { status: 'failed', attempts: 6 });
  office.refuse = 0;
  await hurry(platform, at.viewer);
  t.like((await at.deliveries(at.viewer))[0], { status: 'sent', attempts: 2 });
  t.is(mailsTo(at.viewer.email).length, 1);
  t.is(mailsTo(at.orgAdmin.email).length, 0);
});

test.serial('an address that is refused for good is not tried again', async (t) => {
  const at = await openTenant(platform);
  office.refuse = 550;
  await at.tell('devices.outage', OUTAGE);
  const [delivery] = await at.deliveries(at.orgAdmin);
  t.like(delivery, { status: 'failed', attempts: 1 });
  t.regex(delivery?.error ?? '', /^Mail could not be sent/);
});

test.serial('what a crash left behind is taken up when its lease is over, and not before', async (t) => {
  const at = await openTenant(platform);
  office.refuse = 451;
  await at.tell('devices.outage', OUTAGE);
  office.refuse = 0;
  const leased = (interval: string) =>
    platform.sql(
      `update notification_queue set lease = gen_random_uuid(), leased_until = now() + $2::interval,
         due_at = now() + $2::interval where user_id = $1`,
      [at.orgAdmin.id, interval],
    );
  await leased('1 hour');
  await hurry(platform, at.orgAdmin);
  t.is(mailsTo(at.orgAdmin.email).length, 0);
  await leased('-1 second');
  await hurry(platform, at.orgAdmin);
  t.is(mailsTo(at.orgAdmin.email).length, 1);
});

test.serial('mail waits for the end of quiet hours, unless it is urgent or was read meanwhile', async (t) => {
  const at = await openTenant(platform);
  // All day but one minute that is far away.
  const hour = (new Date().getUTCHours() + 12) % 24;
  const two = (n: number) => String(n).padStart(2, '0');
  const quietHours = { start: `${two(hour)}:01`, end: `${two(hour)}:00`, timezone: 'UTC' };
  await at.prefer(at.orgAdmin, { ...EVERYTHING, quietHours });
  const deviceId = await at.device();
  await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId });
  const [waiting] = await at.deliveries(at.orgAdmin);
  t.is(waiting?.status, 'pending');
  t.is(waiting?.next_attempt_at.toISOString().slice(11, 16), `${two(hour)}:00`);
  t.is(office.mails.length, 0);
  await at.tell('devices.outage', OUTAGE);
  t.is(mailsTo(at.orgAdmin.email).length, 1);
  await platform.call('PATCH', '/notifications/read', { token: at.orgAdmin.token, body: { all: true } });
  await hurry(platform, at.orgAdmin);
  t.like((await at.deliveries(at.orgAdmin))[0], { status: 'suppressed', error: 'read before it was sent' });
});

test.serial('who has lost access by then is not mailed', async (t) => {
  const at = await openTenant(platform);
  office.refuse = 451;
  await at.tell('devices.outage', OUTAGE);
  office.refuse = 0;
  await platform.sql('delete from organization_users where user_id = $1', [at.viewer.id]);
  await hurry(platform, at.viewer);
  t.like((await at.deliveries(at.viewer))[0], { status: 'suppressed', error: 'out of reach by now' });
  t.is(mailsTo(at.viewer.email).length, 0);
});

test.serial('a digest is one mail of what has come since, without what was read', async (t) => {
  const at = await openTenant(platform);
  const reader = await orgUser(platform, { orgId: at.orgId });
  await at.prefer(reader, { type: 'device', email: 'digest', emailFrom: 'low', digest: { every: 'hour' } });
  const devices = [await at.device(), await at.device(), await at.device()];
  for (const deviceId of devices) await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId });
  t.is(office.mails.length, 0);
  const waiting = await at.deliveries(reader);
  t.is(waiting.length, 3);
  for (const one of waiting) t.is(one.due_at.getTime() % 3_600_000, 0);
  const [notice] = (await at.inbox(reader)).notifications;
  await platform.call('PATCH', `/notifications/${notice?.id}`, { token: reader.token, body: { read: true } });
  // One slot: an hour that ends between two events would make two.
  await platform.sql(
    `with one as (select id from notification_queue where user_id = $1 limit 1),
     others as (delete from notification_queue where user_id = $1 and id not in (select id from one)),
     moved as (update notification_queue set digest_at = date_trunc('hour', now()) where id in (select id from one))
     update notification_deliveries set due_at = date_trunc('hour', now()) where user_id = $1`,
    [reader.id],
  );
  await hurry(platform, reader);
  const mails = mailsTo(reader.email);
  t.is(mails.length, 1);
  t.is(header(mails[0]?.text ?? '', 'Subject'), 'Quartermaster: 2 notices');
  t.deepEqual((await at.deliveries(reader)).map(({ status }) => status).sort(), ['sent', 'sent', 'suppressed']);
  await hurry(platform, reader);
  t.is(mailsTo(reader.email).length, 1);
});

test.serial(
  'a notice that comes while its digest is being sent is not lost: the digest is sent again with it',
  async (t) => {
    const at = await openTenant(platform);
    await at.prefer(at.orgAdmin, { type: 'device', email: 'digest', emailFrom: 'low', digest: { every: 'day' } });
    await at.tell('devices.main_agent_silent', { hostname: 'a' }, { deviceId: await at.device() });
    const row = () =>
      platform.sql('select lease, due_at <= now() as due from notification_queue where user_id = $1', [at.orgAdmin.id]);
    t.deepEqual(await row(), [{ lease: null, due: false }]);
    await platform.sql(
      `update notification_queue set lease = gen_random_uuid(), leased_until = now() + interval '1 hour' where user_id = $1`,
      [at.orgAdmin.id],
    );
    await emit(platform, at, 'devices.main_agent_silent', { hostname: 'b' }, { deviceId: await at.device() });
    await platform.runJobs();
    t.deepEqual(await row(), [{ lease: null, due: true }]);
  },
);

test('delays grow, spread by a fifth, and are longer where the other side asks so', (t) => {
  t.deepEqual(
    [1, 2, 3, 4, 5].map((attempt) => delayAfter(attempt, null, () => 0.5)),
    [30, 120, 600, 1800, 7200],
  );
  t.is(
    delayAfter(1, null, () => 0),
    24,
  );
  t.is(
    delayAfter(1, 300, () => 0.5),
    300,
  );
  t.is(
    delayAfter(1, 10_000_000, () => 0.5),
    86_400,
  );
});

test.serial(
  'mail about an organization that has notifications off waits, and leaves the digests of its readers',
  async (t) => {
    const at = await openTenant(platform);
    const second = await organization(platform, at.partnerId);
    const everywhere = at.partner;
    await at.prefer(everywhere, {
      type: 'device',
      email: 'digest',
      emailFrom: 'low',
      digest: { every: 'hour' },
    });
    for (const orgId of [second.orgId, at.orgId]) {
      const deviceId = await at.device(orgId === at.orgId ? at.siteId : second.siteId, orgId);
      await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId, orgId });
    }
    // One slot, and the first of its deliveries names its row: that of the organization that is switched off.
    await platform
      .sql(
        `with named as (
       select d.id from notification_deliveries d join user_notifications n on n.id = d.notification_id
       where d.user_id = $1 and n.org_id = $2),
     gone as (delete from notification_queue where user_id = $1 and id not in (select id from named)),
     kept as (update notification_queue set digest_at = date_trunc('hour', now()) where user_id = $1 and id in (select id from named)),
     made as (
       insert into notification_queue (id, kind, tenant_id, user_id, digest_at)
       select id, 'email', '00000000-0000-0000-0000-000000000000', $1, date_trunc('hour', now()) from named
       on conflict (id) do nothing)
     update notification_deliveries set due_at = date_trunc('hour', now()) where user_id = $1`,
        [everywhere.id, second.orgId],
      )
      .catch(async () => undefined);
    const states = async () =>
      (await at.deliveries(everywhere)).map(({ status, digest }) => `${status}${digest ? ' in a digest' : ''}`).sort();
    t.deepEqual(await states(), ['pending in a digest', 'pending in a digest']);
    await switchModule(platform, { ...at, orgId: second.orgId }, 'notifications', false);
    await hurry(platform, everywhere);
    t.deepEqual(await states(), ['pending', 'sent in a digest']);
    t.is(mailsTo(everywhere.email).length, 1);
    t.is(header(mailsTo(everywhere.email)[0]?.text ?? '', 'Subject'), 'Quartermaster: one notice');
    await hurry(platform, everywhere);
    t.is(mailsTo(everywhere.email).length, 1);
    await switchModule(platform, { ...at, orgId: second.orgId }, 'notifications', true);
    await hurry(platform, everywhere);
    t.deepEqual(await states(), ['sent', 'sent in a digest']);
    t.is(mailsTo(everywhere.email).length, 2);
  },
);
