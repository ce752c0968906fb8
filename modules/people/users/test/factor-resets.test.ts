/** An administrator removes the factors of a user who lost them. */
import test from 'ava';
import { apiKey, orgUser, ROLES, startTestPlatform, systemUser, tenant, until } from '#test';
import { caller, mailsTo } from './arrange.ts';

const platform = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());
const { as } = caller(platform);

const reset = (token: string, id: string, body: object = {}) => as(token, 'POST', `/users/${id}/reset-mfa`, body);
const guard = (id: string) =>
  platform.sql(
    `update users set mfa_enabled = true, mfa_method = 'totp', mfa_secret = 'x', mfa_recovery_codes = '["y"]',
       phone_number = '+4917011111111', phone_verified = true, password_hash = 'kept' where id = $1`,
    [id],
  );
const stored = async (id: string) =>
  (
    await platform.sql(
      `select mfa_enabled as on, mfa_secret as secret, mfa_recovery_codes as codes, phone_number as phone,
         password_hash as password, (select count(*)::int from passkeys where user_id = users.id) as passkeys
       from users where id = $1`,
      [id],
    )
  )[0];

test('factors, phone, passkeys, recovery codes and sessions go, the password stays, and the user is told', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  await guard(viewer.id);
  await platform.sql(
    `insert into passkeys (user_id, credential_id, public_key, counter, name, device_type, backed_up, aaguid)
     values ($1::uuid, $1::text, 'x', 0, 'Laptop', 'singleDevice', false, $1)`,
    [viewer.id],
  );
  t.is((await reset(orgAdmin.token, viewer.id)).status, 200);
  t.deepEqual(await stored(viewer.id), {
    ...{ on: false, secret: null, codes: null, phone: null, password: 'kept', passkeys: 0 },
  });
  await until(async () => (await platform.call('GET', '/users/me', { token: viewer.token })).status === 401);
  const [entry] = await platform.audits({ orgId, action: 'user.mfa.reset' });
  t.like(entry, { resource_id: viewer.id, actor_id: orgAdmin.id });
  t.regex((await mailsTo(platform, viewer.email)).join(), /an administrator removed the second factor/);
  t.is((await reset(orgAdmin.token, viewer.id)).body.error.code, 'INVALID_STATE');
});

test('who may do it: a verified, recent session of an administrator of every place of the user', async (t) => {
  const { orgAdmin, viewer, orgId, partner } = await tenant(platform);
  const elsewhere = await tenant(platform);
  for (const { id } of [viewer, orgAdmin, partner]) await guard(id);
  const code = async (token: string, id: string, body: object = {}) => (await reset(token, id, body)).body.error.code;
  const plain = await orgUser(platform, { orgId, mfa: false });
  t.is(await code(plain.token, viewer.id), 'MFA_VERIFICATION_REQUIRED');
  t.is(await code(viewer.token, orgAdmin.id), 'FORBIDDEN');
  t.is(await code(orgAdmin.token, orgAdmin.id), 'OWN_ACCOUNT');
  t.is((await reset(elsewhere.orgAdmin.token, viewer.id)).status, 404);
  const key = await apiKey(platform, { orgId, scopes: ['*'], createdBy: orgAdmin.id });
  const byKey = await platform.call('POST', `/users/${viewer.id}/reset-mfa`, {
    headers: { 'x-api-key': key },
    body: {},
  });
  t.is(byKey.status, 401);
  const old = await orgUser(platform, { orgId });
  await platform.sql(`update sessions set created_at = now() - interval '16 minutes' where user_id = $1`, [old.id]);
  t.is(await code(old.token, viewer.id), 'REAUTHENTICATION_REQUIRED');
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[elsewhere.orgId, viewer.id, ROLES.viewer],
  ]);
  t.is(await code(orgAdmin.token, viewer.id), 'USER_SHARED');
  t.like(await stored(viewer.id), { on: true, secret: 'x' });
  t.is((await reset(partner.token, orgAdmin.id, { orgId })).status, 200);
  t.like(await stored(orgAdmin.id), { on: false });
});

test('a system administrator names any account, and each of its tenants records it', async (t) => {
  const [one, two] = [await tenant(platform), await tenant(platform)];
  const admin = await systemUser(platform);
  await guard(one.viewer.id);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[two.orgId, one.viewer.id, ROLES.viewer],
  ]);
  t.is((await reset(admin.token, one.viewer.id)).status, 200);
  for (const { orgId } of [one, two]) {
    t.is((await platform.audits({ orgId, action: 'user.mfa.reset' })).length, 1);
  }
  t.is((await reset(admin.token, one.orgId)).status, 404);
  const lone = await systemUser(platform);
  await guard(lone.id);
  t.is((await reset(admin.token, lone.id)).status, 200, 'an account of the platform alone, too');
});
