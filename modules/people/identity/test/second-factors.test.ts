/** The second factor: enrolling, logging in with it, and losing it. */
import test from 'ava';
import { generateSync } from 'otplib';
import { type ErrorBody, sharedPlatform, tenant, until } from '#test';
import { fromSomewhere, givePassword, PASSWORD, type Registered, registration } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

interface Setup {
  secret: string;
  otpAuthUrl: string;
  qrCodeDataUrl: string;
  recoveryCodes: string[];
}
interface Login {
  mfaRequired: boolean;
  tempToken: string;
  tokens: { accessToken: string };
}
const codeOf = (secret: string) => generateSync({ secret });
const post = <B = ErrorBody>(path: string, body: object, token?: string) =>
  platform.call<B & ErrorBody>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });
const login = (email: string) => post<Login>('/auth/login', { email, password: PASSWORD });
const verify = (tempToken: string, code: string) => post<Login>('/auth/mfa/verify', { tempToken, code });

/** A partner user who has enrolled long enough ago that the present code is unused. */
async function enrolled() {
  const made = await tenant(platform);
  const { partner } = made;
  await givePassword(platform, partner.id);
  const setup = (await post<Setup>('/auth/mfa/setup', {}, partner.token)).body;
  const enabled = await post('/auth/mfa/enable', { code: codeOf(setup.secret) }, partner.token);
  if (enabled.status !== 200) throw new Error(`not enrolled: ${enabled.body.error.code}`);
  await platform.sql('update users set mfa_last_step = mfa_last_step - 10 where id = $1', [partner.id]);
  return { ...made, ...setup };
}

test('a user of a Force MFA role enrolls and then may work, with nothing readable in the database', async (t) => {
  const { partner, partnerId } = await tenant(platform);
  const { token } = partner;
  t.is((await platform.call('GET', '/orgs/sites', { token })).status, 428);
  t.like((await platform.call('GET', '/auth/me', { token })).body, { mfaEnabled: false, mfaRequired: true });
  const { body } = await post<Setup>('/auth/mfa/setup', {}, token);
  t.regex(body.otpAuthUrl, /^otpauth:\/\/totp\/Quartermaster/);
  t.regex(body.qrCodeDataUrl, /^data:image\/png;base64,/);
  t.is((await post('/auth/mfa/enable', { code: '000000' }, token)).body.error.code, 'INVALID_CODE');
  const enabled = await post<{ recoveryCodes: string[] }>('/auth/mfa/enable', { code: codeOf(body.secret) }, token);
  t.like(enabled.body, { mfaEnabled: true, recoveryCodes: body.recoveryCodes });
  await until(async () => (await platform.call('GET', '/orgs/sites', { token })).status === 200);
  t.is((await post('/auth/mfa/setup', {}, token)).status, 409);
  const [row] = await platform.sql<{ all: string }>('select u::text as all from users u where id = $1', [partner.id]);
  t.false(row?.all.includes(body.secret) || row?.all.includes(body.recoveryCodes[0] ?? ''));
  const audits = (await platform.audits()).filter((entry) => entry.resource_id === partner.id);
  t.deepEqual(
    audits.map((entry) => [entry.action, entry.details.step]),
    [
      ['auth.mfa.setup', 'begin'],
      ['auth.mfa.setup', 'confirm'],
    ],
  );
  t.truthy(partnerId);
});

test('the setup can also be confirmed on the public path, with any access token of the user whose session lives', async (t) => {
  const { partner, orgAdmin, partnerId } = await tenant(platform);
  const { body } = await post<Setup>('/auth/mfa/setup', {}, partner.token);
  const code = codeOf(body.secret);
  t.is((await post('/auth/mfa/verify', { code })).status, 401);
  t.is((await post('/auth/mfa/verify', { code }, 'not.a.token')).status, 401);
  t.is((await post('/auth/mfa/verify', { code }, orgAdmin.token)).body.error.code, 'INVALID_STATE');
  const session = async (revoked: string | null) => {
    const [row] = await platform.sql<{ id: string }>(
      `insert into sessions (user_id, token_hash, scope, partner_id, expires_at, revoked_at)
       values ($1, $2, 'partner', $3, now() + interval '1 day', $4) returning id`,
      [partner.id, 'none', partnerId, revoked],
    );
    return platform.signAccess({ sub: partner.id, sid: row?.id ?? '', scope: 'partner', partnerId, mfa: false }, 900);
  };
  t.is((await post('/auth/mfa/verify', { code }, await session('2026-01-01'))).status, 401);
  const another = await session(null);
  t.is((await post('/auth/mfa/verify', { code: '000000' }, another)).status, 400);
  t.like((await post('/auth/mfa/verify', { code }, another)).body, { mfaEnabled: true });
  // Only the session that showed the code counts as verified.
  await until(async () => (await platform.call('GET', '/orgs/sites', { token: another })).status === 200);
  t.like((await platform.call('GET', '/auth/me', { token: another })).body, { mfaVerified: true });
  await until(async () => {
    const { body: me } = await platform.call<{ mfaVerified: boolean }>('GET', '/auth/me', { token: partner.token });
    return !me.mfaVerified;
  });
});

test('a setup that waited too long cannot be confirmed', async (t) => {
  const { partner } = await tenant(platform);
  const { body } = await post<Setup>('/auth/mfa/setup', {}, partner.token);
  await platform.sql(`update mfa_setups set expires_at = now() where user_id = $1`, [partner.id]);
  t.is((await post('/auth/mfa/enable', { code: codeOf(body.secret) }, partner.token)).status, 409);
});

test('with MFA on a login asks for a code and gives tokens with the claim for a right one', async (t) => {
  const { partner, partnerId, secret } = await enrolled();
  const first = await login(partner.email);
  t.deepEqual(Object.keys(first.body).sort(), ['mfaMethod', 'mfaMethods', 'mfaRequired', 'tempToken']);
  t.deepEqual(first.headers.getSetCookie(), []);
  t.is((await verify(first.body.tempToken, '000000')).body.error.code, 'INVALID_MFA_CODE');
  const full = await verify(first.body.tempToken, codeOf(secret));
  t.is(full.status, 200);
  const token = full.body.tokens.accessToken;
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { mfa: boolean };
  t.true(claims.mfa);
  t.like((await platform.call('GET', '/auth/me', { token })).body, { partnerId, mfaVerified: true });
  const logins = (await platform.audits()).filter((entry) => entry.actor_id === partner.id);
  t.deepEqual(
    logins.map((entry) => entry.action).filter((action) => action.startsWith('user.')),
    ['user.login.failed', 'user.login'],
  );
});

test('a temporary token, a code and a recovery code each work once, also when used at the same time', async (t) => {
  const { partner, secret, recoveryCodes } = await enrolled();
  const tokens = await Promise.all([1, 2, 3].map(async () => (await login(partner.email)).body.tempToken));
  const code = codeOf(secret);
  const raced = await Promise.all(tokens.map((token) => verify(token, code)));
  t.is(raced.filter(({ status }) => status === 200).length, 1);
  const { tempToken } = (await login(partner.email)).body;
  const recovery = recoveryCodes[3] ?? '';
  t.is((await verify(tempToken, recovery.toUpperCase())).status, 200);
  t.is((await verify(tempToken, recoveryCodes[4] ?? '')).body.error.code, 'TEMP_TOKEN_INVALID');
  const again = (await login(partner.email)).body.tempToken;
  t.is((await verify(again, recovery)).status, 401);
  t.is((await verify(again, recoveryCodes[4] ?? '')).status, 200);
});

test('an expired temporary token is refused, and after ten wrong codes even a right one has to wait', async (t) => {
  const { partner, secret } = await enrolled();
  const old = (await login(partner.email)).body.tempToken;
  await platform.sql('update mfa_challenges set expires_at = now() where user_id = $1', [partner.id]);
  t.is((await verify(old, codeOf(secret))).body.error.code, 'TEMP_TOKEN_INVALID');
  const { tempToken } = (await login(partner.email)).body;
  for (let n = 0; n < 10; n += 1) t.is((await verify(tempToken, '000000')).status, 401);
  const refused = await platform.call<{ retryAfter: number }>('POST', '/auth/mfa/verify', {
    body: { tempToken, code: codeOf(secret) },
  });
  t.is(refused.status, 429);
  t.true(refused.body.retryAfter > 0);
});

test('MFA can be disabled with a code, unless an organization of the user requires it', async (t) => {
  const { partner, orgId, secret } = await enrolled();
  await platform.sql(`update organizations set settings = '{"security":{"requireMfa":true}}' where id = $1`, [orgId]);
  await platform.sql(
    `insert into organization_users (org_id, user_id, role_id) select $1, $2, role_id from organization_users limit 1`,
    [orgId, partner.id],
  );
  const refused = await post('/auth/mfa/disable', { code: codeOf(secret) }, partner.token);
  t.is(refused.status, 403);
  t.is(refused.body.error.code, 'MFA_ENFORCED');
  await platform.sql(`update organizations set settings = '{}' where id = $1`, [orgId]);
  t.is((await post('/auth/mfa/disable', { code: '000000' }, partner.token)).status, 400);
  t.like((await post('/auth/mfa/disable', { code: codeOf(secret) }, partner.token)).body, { mfaEnabled: false });
  const [row] = await platform.sql('select mfa_secret, mfa_recovery_codes from users where id = $1', [partner.id]);
  t.deepEqual(row, { mfa_secret: null, mfa_recovery_codes: null });
  t.false((await login(partner.email)).body.mfaRequired);
});

test('recovery codes are replaced all at once', async (t) => {
  const { partner, recoveryCodes } = await enrolled();
  await until(async () => (await post('/auth/mfa/recovery-codes', {}, partner.token)).status === 200);
  const { tempToken } = (await login(partner.email)).body;
  t.is((await verify(tempToken, recoveryCodes[0] ?? '')).status, 401);
  const rotations = await platform.audits({ action: 'auth.mfa.recovery_codes.rotate' });
  t.is(rotations.filter((row) => row.actor_id === partner.id).length, 1);
});

test('what has ended is swept away, and what still counts stays', async (t) => {
  const { partner } = await enrolled();
  await login(partner.email);
  await login(partner.email);
  await platform.sql(
    `update mfa_challenges set expires_at = now() - interval '1 minute' where token_hash =
     (select token_hash from mfa_challenges where user_id = $1 limit 1)`,
    [partner.id],
  );
  await platform.sql(
    `select graphile_worker.add_job('identity/sweep-expired', '{"orgId":null,"requestId":"t","data":{}}')`,
  );
  await platform.runJobs();
  t.is((await platform.sql('select 1 from mfa_challenges where user_id = $1', [partner.id])).length, 1);
  t.is((await platform.sql('select 1 from sessions where user_id = $1', [partner.id])).length, 1);
});

test('whoever registers a partner is told to enroll, and may do nothing else before', async (t) => {
  const { body } = await post<Registered>('/auth/register-partner', registration());
  t.true(body.mfaRequired);
  const token = body.tokens.accessToken;
  t.is((await platform.call('GET', '/orgs/sites', { token })).status, 428);
  const setup = (await post<Setup>('/auth/mfa/setup', {}, token)).body;
  t.is((await post('/auth/mfa/verify', { code: codeOf(setup.secret) }, token)).status, 200);
  await until(async () => (await platform.call('GET', '/orgs/sites', { token })).status === 200);
});

test('a secret that cannot be read with the encryption key in use is a clear 503, and never a 500', async (t) => {
  const { partner, secret } = await enrolled();
  await platform.sql(
    `update users set mfa_secret = regexp_replace(mfa_secret, '^v1[.][^.]+', 'v1.00000000') where id = $1`,
    [partner.id],
  );
  const { tempToken } = (await login(partner.email)).body;
  const { status, body } = await verify(tempToken, codeOf(secret));
  t.deepEqual([status, body.error.code], [503, 'SECRET_UNREADABLE']);
  t.notRegex(JSON.stringify(body), /v1\.|00000000/);
});
