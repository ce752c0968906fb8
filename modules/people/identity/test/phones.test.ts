/** Proving a phone number. */
import test from 'ava';
import pg from 'pg';
import { type ErrorBody, sharedPlatform, startTestPlatform, tenant, until } from '#test';
import { codeSentTo, otherThan, someNumber, textsTo } from './messages.ts';
import { fromSomewhere } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

type Answer = ErrorBody & { retryAfter?: number; phone: string };
const post = (path: string, token: string, body: object = {}) =>
  platform.call<Answer>('POST', path, { token, body, headers: fromSomewhere() });
const verify = (token: string, phoneNumber: string) => post('/auth/phone/verify', token, { phoneNumber });
const confirm = (token: string, code: string) => post('/auth/phone/confirm', token, { code });
const me = async (token: string) => (await platform.call<Record<string, unknown>>('GET', '/auth/me', { token })).body;

test('a number counts when the code sent to it comes back, once, and nothing readable lies in between', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const number = someNumber();
  const shown = `•••${number.slice(-4)}`;
  const asked = await verify(token, ` ${number} `);
  t.deepEqual([asked.status, asked.body], [200, { success: true, phone: shown } as never]);
  const queued = await platform.sql<{ all: string }>(
    `select j::text as all from graphile_worker._private_jobs j join graphile_worker._private_tasks k on k.id = j.task_id
     where k.identifier = 'identity/send-code'`,
  );
  t.false(queued.some(({ all }) => all.includes(number)));
  t.like(await me(token), { phoneNumber: null, phoneVerified: false, pendingPhoneNumber: shown });
  const code = await codeSentTo(platform, number);
  t.regex((await textsTo(platform, number, 1))[0] ?? '', /\d{6} confirms this phone number at Quartermaster/);
  const rows = await platform.sql<{ all: string }>('select c::text as all from sms_codes c where user_id = $1', [
    orgAdmin.id,
  ]);
  t.is(rows.length, 1);
  t.false(rows[0]?.all.includes(code));
  t.is((await confirm(token, otherThan(code))).body.error.code, 'INVALID_CODE');
  t.is((await confirm(token, code)).status, 200);
  t.like(await me(token), { phoneNumber: shown, phoneVerified: true, pendingPhoneNumber: null });
  t.is((await confirm(token, code)).status, 400);
  const trail = await platform.audits({ orgId });
  t.deepEqual(
    trail.map(({ action, actor_id, details }) => [action, actor_id, details.phone]),
    [
      ['auth.phone.verify', orgAdmin.id, shown],
      ['auth.phone.confirm', orgAdmin.id, shown],
    ],
  );
});

test('a code is good for five tries, ten minutes, its own user and the newest request', async (t) => {
  const { orgAdmin, viewer } = await tenant(platform);
  const number = someNumber();
  await verify(orgAdmin.token, number);
  const first = await codeSentTo(platform, number);
  for (let n = 0; n < 5; n += 1) t.is((await confirm(orgAdmin.token, otherThan(first))).status, 400);
  t.is((await confirm(orgAdmin.token, first)).status, 400);
  await verify(orgAdmin.token, number);
  const second = await codeSentTo(platform, number, 2);
  await verify(viewer.token, someNumber());
  t.is((await confirm(viewer.token, second)).status, 400);
  if (first !== second) t.is((await confirm(orgAdmin.token, first)).status, 400);
  await platform.sql('update sms_codes set expires_at = now() where user_id = $1', [orgAdmin.id]);
  t.is((await confirm(orgAdmin.token, second)).status, 400);
  t.is((await me(orgAdmin.token)).pendingPhoneNumber, null);
  await verify(orgAdmin.token, number);
  t.is((await confirm(orgAdmin.token, await codeSentTo(platform, number, 3))).status, 200);
});

test('of many who confirm with one code at the same moment one succeeds', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const number = someNumber();
  await verify(orgAdmin.token, number);
  const code = await codeSentTo(platform, number);
  const holder = new pg.Client({ connectionString: platform.databaseUrl });
  await holder.connect();
  try {
    // All are let go at once, so that each finds the code right before anybody has used it.
    await holder.query('begin');
    await holder.query('select 1 from sms_codes where user_id = $1 for update', [orgAdmin.id]);
    const answers = Promise.all([1, 2, 3].map(() => confirm(orgAdmin.token, code)));
    await until(async () => {
      const waiting = await platform.sql(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query like 'update sms_codes%'`,
      );
      return waiting.length === 3;
    });
    await holder.query('commit');
    t.deepEqual((await answers).map(({ status }) => status).sort(), [200, 400, 400]);
  } finally {
    await holder.end();
  }
});

test('of several numbers asked for one after the other a code confirms the newest', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const [older, newer] = [someNumber(), someNumber()];
  await Promise.all([verify(orgAdmin.token, older), verify(orgAdmin.token, older)]);
  await verify(orgAdmin.token, newer);
  const code = await codeSentTo(platform, newer);
  t.is((await confirm(orgAdmin.token, code)).status, 200);
  t.is((await me(orgAdmin.token)).phoneNumber, `•••${newer.slice(-4)}`);
});

test('numbers that are none are refused with the path', async (t) => {
  const { viewer } = await tenant(platform);
  for (const phoneNumber of [
    '0170123456',
    '+0170123456',
    '+49 170 123',
    '+12345',
    `+${'1'.repeat(16)}`,
    '+49170123456x',
  ]) {
    const { status, body } = await verify(viewer.token, phoneNumber);
    t.is(status, 400, phoneNumber);
    t.is(body.error.details[0]?.path, 'phoneNumber');
  }
  t.is((await confirm(viewer.token, '12345')).body.error.code, 'VALIDATION_ERROR');
});

test('a login older than a quarter of an hour changes neither phone nor second factor', async (t) => {
  const { orgAdmin } = await tenant(platform);
  await platform.sql(`update sessions set created_at = now() - interval '16 minutes' where id = $1`, [
    orgAdmin.sessionId,
  ]);
  const answers = await Promise.all([
    verify(orgAdmin.token, someNumber()),
    post('/auth/mfa/setup', orgAdmin.token),
    post('/auth/mfa/sms/enable', orgAdmin.token),
    post('/auth/mfa/recovery-codes', orgAdmin.token),
  ]);
  for (const { status, body } of answers) t.deepEqual([status, body.error.code], [403, 'REAUTHENTICATION_REQUIRED']);
});

test('a number gets five messages an hour, whoever asks, and a user asks for five, whatever the number', async (t) => {
  const { orgAdmin, viewer } = await tenant(platform);
  const number = someNumber();
  const refused = (answer: Awaited<ReturnType<typeof verify>>) => {
    t.is(answer.status, 429);
    t.true((answer.body.retryAfter ?? 0) > 0);
    t.is(answer.headers.get('retry-after'), String(answer.body.retryAfter));
  };
  for (let n = 0; n < 3; n += 1) t.is((await verify(orgAdmin.token, number)).status, 200);
  for (let n = 0; n < 2; n += 1) t.is((await verify(viewer.token, number)).status, 200);
  refused(await verify(viewer.token, number));
  for (let n = 0; n < 2; n += 1) t.is((await verify(orgAdmin.token, someNumber())).status, 200);
  refused(await verify(orgAdmin.token, someNumber()));
});

test('without the counter store no message goes to a number of the caller’s choice', async (t) => {
  const lone = await startTestPlatform({ REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    const { orgAdmin } = await tenant(lone);
    const { status } = await lone.call('POST', '/auth/phone/verify', {
      token: orgAdmin.token,
      body: { phoneNumber: someNumber() },
    });
    t.is(status, 503);
  } finally {
    await lone.stop();
  }
});

test('while MFA is on only a session that showed it changes the number, and the old one serves until then', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const [old, next] = [someNumber(), someNumber()];
  await verify(token, old);
  await confirm(token, await codeSentTo(platform, old));
  t.is((await post('/auth/mfa/sms/enable', token)).status, 200);
  const [session] = await platform.sql<{ id: string }>(
    `insert into sessions (user_id, token_hash, scope, org_id, expires_at)
     values ($1, 'none', 'organization', $2, now() + interval '1 day') returning id`,
    [orgAdmin.id, orgId],
  );
  const sid = session?.id ?? '';
  const claims = { sub: orgAdmin.id, sid, scope: 'organization', orgId, mfa: false } as const;
  const unproven = await platform.signAccess(claims, 900);
  t.is((await verify(unproven, next)).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  t.is((await verify(token, next)).status, 200);
  const code = await codeSentTo(platform, next);
  t.is((await confirm(unproven, code)).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  t.like(await me(token), { phoneNumber: `•••${old.slice(-4)}`, pendingPhoneNumber: `•••${next.slice(-4)}` });
  t.is((await confirm(token, code)).status, 200);
  t.like(await me(token), { phoneNumber: `•••${next.slice(-4)}`, mfaMethod: 'sms' });
  await until(async () => (await me(token)).mfaVerified === true);
});
