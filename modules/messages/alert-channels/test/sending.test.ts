/** Messages to channels: sent once, tried again, throttled, held back, taken back, and what failure does to a channel. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { startMailServer, startTestPlatform, switchModule } from '#test';
import { quietUntil } from '../services/sending/quiet.ts';
import { hurry, message, openTenant, receiver } from './ground.ts';

const server = await receiver();
const office = await startMailServer();
const platform = await startTestPlatform({
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  OUTBOUND_ALLOW_HTTP: 'true',
  MAIL_URL: `smtp://127.0.0.1:${office.port}`,
});
test.after.always(async () => {
  await platform.stop();
  await Promise.all([server.close(), office.close()]);
});
test.beforeEach(() => {
  server.received = [];
  server.answer = { status: 200, headers: {}, text: 'ok' };
  office.mails = [];
  office.refuse = 0;
});

test.serial('a message goes out once, whoever asks twice, and follow-ups only after it', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('teams', { webhookUrl: server.url });
  const alert = message();
  await at.send(id, { ...alert, kind: 'resolved' });
  t.is(server.received.length, 0);
  await at.send(id, alert, alert);
  await at.send(id, alert);
  t.is(server.received.length, 1);
  await at.send(id, { ...alert, kind: 'resolved' });
  t.is(server.received.length, 2);
  t.deepEqual(
    (await at.kept(id)).map(({ kind, status, attempts }) => [kind, status, attempts]),
    [
      ['trigger', 'sent', 1],
      ['resolved', 'sent', 1],
    ],
  );
  t.like(await at.read(id), { health: 'ok', consecutiveFailures: 0, lastError: null });
});

test.serial('mail goes to each recipient alone, in the thread of its alert, and not again to who has it', async (t) => {
  const at = await openTenant(platform);
  const to = ['a@example.com', 'b@example.com'];
  const { id } = await at.channel('email', { to, subjectPrefix: '[RMM]' });
  const alert = message({ title: 'Disk <full>\nBcc: x@example.com', message: '<script>' });
  await at.send(id, alert);
  t.deepEqual(
    office.mails.map((mail) => mail.to),
    [['a@example.com'], ['b@example.com']],
  );
  const [first] = office.mails;
  t.regex(first?.text ?? '', /^Subject: \[RMM\] \[HIGH\] Disk <full> Bcc: x@example.com$/m);
  t.notRegex(first?.text.split('\n\n')[0] ?? '', /^Bcc:/m);
  t.true(first?.text.includes('&lt;script&gt;'));
  const thread = (text = '') => /^References: (.*)$/m.exec(text)?.[1];
  office.refuse = 451;
  await at.send(id, { ...alert, kind: 'resolved' });
  await platform.sql(
    `update alert_notifications set reached = '{a@example.com}' where kind = 'resolved' and channel_id = $1`,
    [id],
  );
  office.refuse = 0;
  await hurry(platform, id);
  t.deepEqual(
    office.mails.slice(2).map((mail) => mail.to),
    [['b@example.com']],
  );
  t.is(thread(office.mails[2]?.text), thread(office.mails[1]?.text));
  t.not(thread(office.mails[0]?.text), thread(office.mails[1]?.text));
  t.deepEqual((await at.kept(id))[1]?.reached, to);
});

test.serial('text messages go out by the service for them', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('sms', { numbers: ['+4366412345678', '+4366412345679'] });
  await at.send(id, message());
  t.is((await readdir(join(platform.dataDir, 'sms'))).length, 2);
  t.is((await at.kept(id))[0]?.status, 'sent');
});

test.serial('what fails for now is tried five times, what fails for good once', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('teams', { webhookUrl: server.url });
  server.answer = { status: 429, headers: { 'retry-after': '4000' }, text: 'busy' };
  await at.send(id, message());
  const [waiting] = await at.kept(id);
  t.like(waiting, { status: 'pending', attempts: 1, error: 'busy' });
  t.true((waiting?.next_attempt_at.getTime() ?? 0) > Date.now() + 3_000_000);
  t.like(await at.read(id), { health: 'failing', consecutiveFailures: 0, lastError: 'busy' });
  for (let attempt = 2; attempt <= 5; attempt += 1) await hurry(platform, id);
  t.like((await at.kept(id))[0], { status: 'failed', attempts: 5 });
  t.is(server.received.length, 5);
  server.answer = { status: 404, headers: {}, text: 'gone' };
  await at.send(id, message());
  t.like((await at.kept(id))[1], { status: 'failed', attempts: 1, error: 'gone' });
  t.like(await at.read(id), { consecutiveFailures: 2 });
  server.answer = { status: 200, headers: {}, text: 'ok' };
  await at.send(id, message());
  t.like(await at.read(id), { health: 'ok', consecutiveFailures: 0, lastError: null });
});

test.serial(
  'after fifty messages that failed for good a channel is off, people are told, and a change takes it back',
  async (t) => {
    const at = await openTenant(platform);
    const { id } = await at.channel('teams', { webhookUrl: server.url });
    await platform.sql('update alert_channels set consecutive_failures = 48 where id = $1', [id]);
    server.answer = { status: 404, headers: {}, text: 'gone' };
    await at.send(id, message());
    t.is((await at.read(id)).health, 'failing');
    await at.send(id, message());
    t.like(await at.read(id), {
      health: 'disabled_by_system',
      consecutiveFailures: 50,
      lastError: 'gone',
    });
    const inbox = await platform.call<{
      data: { title: string; priority: string }[];
    }>('GET', '/notifications', {
      token: at.orgAdmin.token,
    });
    t.deepEqual(
      inbox.body.data.map(({ title, priority }) => [title, priority]),
      [['Alert channel switched off: Ops', 'high']],
    );
    const unread = await platform.call<{ count: number }>('GET', '/notifications/unread-count', {
      token: at.viewer.token,
    });
    t.is(unread.body.count, 0);
    t.is((await platform.audits({ action: 'notification_channel.disable', orgId: at.orgId })).length, 1);
    const before = server.received.length;
    await at.send(id, message());
    t.is(server.received.length, before);
    server.answer = { status: 200, headers: {}, text: 'ok' };
    t.like((await at.call('PATCH', `/${id}`, { enabled: true })).body.data, { health: 'ok', consecutiveFailures: 0 });
    await at.send(id, message());
    t.is(server.received.length, before + 1);
  },
);

test.serial('beyond its throttle a channel has one digest at the end of the window', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('webhook', { url: server.url }, { throttleMax: 2, throttleWindowSeconds: 600 });
  await at.send(
    id,
    ...['high', 'low', 'critical', 'medium'].map((severity, n) =>
      message({ severity: severity as 'low', title: `Alert ${n}` }),
    ),
  );
  t.is(server.received.length, 2);
  const kept = await at.kept(id);
  t.deepEqual(kept.map(({ status }) => status).sort(), ['pending', 'sent', 'sent', 'throttled', 'throttled']);
  const digest = kept.find(({ kind }) => kind === 'digest');
  const wait = (digest?.next_attempt_at.getTime() ?? 0) - Date.now();
  t.true(wait > 0 && wait <= 600_000);
  await hurry(platform, id);
  t.is(server.received.length, 3);
  const { data, type } = (server.received[2]?.body ?? {}) as {
    type: string;
    data: { title: string; message: string };
  };
  t.is(type, 'alert.digest');
  t.is(data.title, '2 more alerts');
  t.is(data.message.split('\n').length, 2);
  // The next window begins anew.
  await platform.sql(`update alert_channels set window_started_at = now() - interval '11 minutes' where id = $1`, [id]);
  await at.send(id, message());
  t.is(server.received.length, 4);
});

test.serial('a channel is passed over when it is off, or when it wants only what is more severe', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('teams', { webhookUrl: server.url }, { minSeverity: 'high' });
  await at.send(id, message({ severity: 'medium' }));
  t.deepEqual(await at.kept(id), []);
  await at.call('PATCH', `/${id}`, { enabled: false });
  await at.send(id, message({ severity: 'critical' }));
  t.deepEqual(await at.kept(id), []);
});

test.serial('what is settled before it was sent is taken back, and nothing of it is sent', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('teams', { webhookUrl: server.url });
  const alert = message();
  server.answer = { status: 503, headers: {}, text: 'later' };
  await at.send(id, alert);
  t.is(await at.cancel(alert.alertId), 1);
  server.answer = { status: 200, headers: {}, text: 'ok' };
  await hurry(platform, id);
  await at.send(id, { ...alert, kind: 'resolved' });
  t.deepEqual(
    (await at.kept(id)).map(({ status }) => status),
    ['cancelled'],
  );
  t.is(server.received.length, 1);
});

test.serial('messages wait for the end of quiet hours, unless they are critical', async (t) => {
  const at = await openTenant(platform);
  const two = (n: number) => String(n).padStart(2, '0');
  const far = (new Date().getUTCHours() + 12) % 24;
  const quietHours = { timezone: 'UTC', start: `${two(far)}:01`, end: `${two(far)}:00` };
  const { id } = await at.channel('teams', { webhookUrl: server.url }, { quietHours });
  await at.send(id, message());
  t.is(server.received.length, 0);
  const [waiting] = await at.kept(id);
  t.like(waiting, { status: 'pending', attempts: 0 });
  t.is(waiting?.next_attempt_at.toISOString().slice(11, 16), `${two(far)}:00`);
  await at.send(id, message({ severity: 'critical' }));
  t.is(server.received.length, 1);
});

test('quiet hours go by the clock and the days of their zone', (t) => {
  const until = (at: string, more: object = {}) =>
    quietUntil(
      { timezone: 'Europe/Vienna', days: ['fri', 'sat'], start: '22:00', end: '06:30', exceptCritical: true, ...more },
      'high',
      new Date(at),
    )?.toISOString();
  // 20 November 2026 is a Friday.
  t.is(until('2026-11-20T20:59:00Z'), undefined);
  t.is(until('2026-11-20T21:00:30Z'), '2026-11-21T05:30:00.000Z');
  t.is(until('2026-11-22T05:29:00Z'), '2026-11-22T05:30:00.000Z');
  t.is(until('2026-11-22T05:30:00Z'), undefined);
  t.is(until('2026-11-22T22:00:00Z'), undefined, 'Sunday is none of the days');
  t.is(until('2026-11-20T11:30:00Z', { start: '12:00', end: '13:00' }), '2026-11-20T12:00:00.000Z');
  t.is(until('2026-11-20T12:00:00Z', { start: '12:00', end: '12:00' }), undefined);
});

test.serial('messages are kept for 90 days', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('teams', { webhookUrl: server.url });
  await at.send(id, message(), message());
  await platform.sql(
    `update alert_notifications set created_at = now() - interval '91 days' where id = (select min(id::text)::uuid from alert_notifications where channel_id = $1)`,
    [id],
  );
  await platform.sql(
    `select graphile_worker.add_job('alert-channels/prune-messages', '{"orgId":null,"requestId":"x","data":{}}')`,
  );
  await platform.runJobs();
  t.is((await at.kept(id)).length, 1);
});

test.serial('messages wait while alert channels are off for the organization, for a day at most', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('teams', { webhookUrl: server.url });
  server.answer = { status: 500, headers: {}, text: 'no' };
  await at.send(id, message({ title: 'kept' }), message({ title: 'too old' }));
  server.received = [];
  server.answer = { status: 200, headers: {}, text: 'ok' };
  await switchModule(platform, at, 'alert-channels', false);
  await hurry(platform, id);
  t.is(server.received.length, 0);
  await platform.sql(
    `update alert_channel_queue q set created_at = now() - interval '25 hours' from alert_notifications n
     where n.id = q.id and n.message ->> 'title' = 'too old'`,
  );
  await hurry(platform, id);
  await switchModule(platform, at, 'alert-channels', true);
  await hurry(platform, id);
  t.is(server.received.length, 1);
  t.deepEqual((await at.kept(id)).map(({ status }) => status).sort(), ['cancelled', 'sent']);
});
