/** What people do to accounts and keys is recorded: who, from where, with what. */
import test from 'ava';
import { generateSync } from 'otplib';
import { type ErrorBody, sharedPlatform, startTestPlatform, tenant } from '#test';
import { codeSentTo, someNumber } from './messages.ts';
import { givePassword, PASSWORD, type Registered, refreshCookie, registration } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

const FROM = { 'x-forwarded-for': '10.0.0.1, 198.51.100.7', 'user-agent': 'Browser/1' };
interface Answer extends ErrorBody {
  id: string;
  secret: string;
  tempToken: string;
  recoveryCodes: string[];
}
const call = <B = Answer>(method: string, path: string, body?: object, token?: string, headers = FROM) =>
  platform.call<B>(method, path, { headers, ...(body ? { body } : {}), ...(token ? { token } : {}) });

interface Entry {
  action: string;
  actor_type: string;
  actor_id: string;
  actor_email: string | null;
  resource_name: string | null;
  details: Record<string, unknown>;
  ip_address: string;
  user_agent: string;
  result: string;
}
async function trailOf(actorId: string): Promise<Entry[]> {
  await platform.settle();
  return platform.sql(
    `select action, actor_type, actor_id, actor_email, resource_name, details, ip_address, user_agent, result
     from audit_logs where actor_id = $1 order by timestamp, owner, seq`,
    [actorId],
  );
}

test('every action of an account names its actor, address and program', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { id, email, token } = orgAdmin;
  await givePassword(platform, id);
  await call('PATCH', '/users/me', { name: 'Grace' }, token);
  const number = someNumber();
  await call('POST', '/auth/phone/verify', { phoneNumber: number }, token);
  await call('POST', '/auth/phone/confirm', { code: await codeSentTo(platform, number) }, token);
  const { secret } = (await call('POST', '/auth/mfa/setup', {}, token)).body;
  // The public path knows its actor by the token.
  await call('POST', '/auth/mfa/verify', { code: generateSync({ secret }) }, token);
  const renewed = (await call('POST', '/auth/mfa/recovery-codes', {}, token)).body.recoveryCodes;
  await call('POST', '/auth/login', { email, password: 'wrong' });
  const { tempToken } = (await call('POST', '/auth/login', { email, password: PASSWORD })).body;
  await call('POST', '/auth/mfa/verify', { tempToken, code: '000000' });
  const full = await call('POST', '/auth/mfa/verify', { tempToken, code: renewed[0] ?? '' });
  const { pair } = refreshCookie(full.headers);
  const refresh = () =>
    platform.call('POST', '/auth/refresh', { body: {}, headers: { ...FROM, cookie: pair, 'x-svc-csrf': '1' } });
  await refresh();
  await refresh();
  await platform.sql('update users set mfa_last_step = null where id = $1', [id]);
  await call('POST', '/auth/mfa/disable', { code: generateSync({ secret }) }, token);
  await call('POST', '/auth/logout', {}, token);
  const trail = await trailOf(id);
  t.deepEqual(trail.map(({ action, result }) => `${action} ${result}`).sort(), [
    'auth.mfa.disable success',
    'auth.mfa.recovery_codes.rotate success',
    'auth.mfa.setup success',
    'auth.mfa.setup success',
    'auth.phone.confirm success',
    'auth.phone.verify success',
    'auth.refresh.reuse failure',
    'user.login success',
    'user.login.failed failure',
    'user.login.failed failure',
    'user.logout success',
    'user.profile.update success',
  ]);
  for (const entry of trail) {
    t.like(
      entry,
      { actor_type: 'user', actor_email: email, ip_address: '198.51.100.7', user_agent: 'Browser/1' },
      entry.action,
    );
  }
  t.like(trail.find(({ action }) => action === 'user.profile.update')?.details, {
    changedFields: ['name'],
    after: { name: 'Grace' },
  });
});

test('every action on a key names its actor, the key and what changed', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { id, email, token } = orgAdmin;
  for (const path of ['/api-keys', '/enrollment-keys']) {
    const key = (await call('POST', path, { orgId, name: 'Backup' }, token)).body;
    if (path === '/api-keys') await call('PATCH', `${path}/${key.id}`, { rateLimit: 5 }, token);
    await call('POST', `${path}/${key.id}/rotate`, {}, token);
    await call('DELETE', `${path}/${key.id}`, undefined, token);
  }
  const trail = await trailOf(id);
  t.deepEqual(
    trail.map(({ action }) => action),
    [
      ...['api_key.create', 'api_key.update', 'api_key.rotate', 'api_key.revoke'],
      ...['enrollment_key.create', 'enrollment_key.rotate', 'enrollment_key.delete'],
    ],
  );
  for (const entry of trail) {
    t.like(entry, {
      actor_email: email,
      resource_name: 'Backup',
      ip_address: '198.51.100.7',
      user_agent: 'Browser/1',
    });
  }
  t.deepEqual(trail[1]?.details.changedFields, ['rateLimit']);
});

test('a registration names the user it made', async (t) => {
  const body = registration();
  const { user } = (await call<Registered>('POST', '/auth/register-partner', body)).body;
  const trail = await trailOf(user.id);
  t.deepEqual(
    trail.map(({ action, actor_email, ip_address }) => [action, actor_email, ip_address]),
    [
      ['partner.create', body.email, '198.51.100.7'],
      ['user.create', body.email, '198.51.100.7'],
    ],
  );
});

test('a login with an unknown address is recorded for the platform, but not what may be a password', async (t) => {
  const [{ now } = { now: new Date() }] = await platform.sql<{ now: Date }>('select clock_timestamp() as now');
  for (const email of ['nobody@example.com', 'my secret passphrase']) {
    await call('POST', '/auth/login', { email, password: 'x' });
  }
  await platform.settle();
  const rows = await platform.sql(
    `select resource_name, org_id, ip_address, actor_type from audit_logs
     where action = 'user.login.failed' and error_message = 'no such user' and timestamp >= date_trunc('ms', $1::timestamptz)
     order by timestamp, seq`,
    [now],
  );
  t.deepEqual(rows, [
    { resource_name: 'nobody@example.com', org_id: null, ip_address: '198.51.100.7', actor_type: 'system' },
    { resource_name: null, org_id: null, ip_address: '198.51.100.7', actor_type: 'system' },
  ]);
});

test('without a trusted proxy its headers are nobody’s address', async (t) => {
  const direct = await startTestPlatform();
  try {
    const { orgAdmin } = await tenant(direct);
    const { token, id } = orgAdmin;
    await direct.call('PATCH', '/users/me', { token, headers: FROM, body: { name: 'Grace' } });
    await direct.settle();
    const rows = await direct.sql('select ip_address from audit_logs where actor_id = $1', [id]);
    t.deepEqual(rows, [{ ip_address: '127.0.0.1' }]);
  } finally {
    await direct.stop();
  }
});

test('a change that is undone leaves no entry', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token, id } = orgAdmin;
  await call('POST', '/auth/mfa/setup', {}, token);
  // A code that is refused undoes the confirmation, and what it would have recorded.
  await call('POST', '/auth/mfa/enable', { code: '000000' }, token);
  await call('POST', '/auth/mfa/disable', { code: '000000' }, token);
  t.deepEqual(
    (await trailOf(id)).map(({ action, details }) => [action, details.step]),
    [['auth.mfa.setup', 'begin']],
  );
});
