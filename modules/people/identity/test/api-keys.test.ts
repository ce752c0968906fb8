/** API keys through the API. */
import test from 'ava';
import { apiKey, type ErrorBody, organization, orgUser, partnerUser, sharedPlatform, tenant } from '#test';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());

interface Key {
  id: string;
  key: string;
  keyPrefix: string;
  scopes: string[];
}
const works = async (key: string) => (await platform.call('GET', '/orgs/sites', { apiKey: key })).status;

test('a key is made, used, changed, rotated and revoked, and each step is audited', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const made = await platform.call<Key & { warning: string }>('POST', '/api-keys', {
    token,
    body: { orgId, name: ' Backup ', scopes: ['sites:read'] },
  });
  t.is(made.status, 201);
  t.like(made.body, {
    orgId,
    name: 'Backup',
    rateLimit: 1000,
    expiresAt: null,
    status: 'active',
    createdBy: orgAdmin.id,
  });
  t.regex(made.body.key, /^svc_[\w-]{32}$/);
  t.is(made.body.keyPrefix, made.body.key.slice(0, 12));
  t.truthy(made.body.warning);
  t.is(await works(made.body.key), 200);
  const { id } = made.body;
  const changed = await platform.call('PATCH', `/api-keys/${id}`, { token, body: { rateLimit: 5 } });
  t.like(changed.body, { rateLimit: 5, name: 'Backup', scopes: ['sites:read'] });
  await platform.settle();
  const rotated = await platform.call<Key>('POST', `/api-keys/${id}/rotate`, { token });
  t.like(rotated.body, { id, name: 'Backup', rateLimit: 5, usageCount: 0, lastUsedAt: null });
  t.not(rotated.body.key, made.body.key);
  t.is(await works(rotated.body.key), 200);
  t.is(await works(made.body.key), 401, 'at once');
  t.deepEqual((await platform.call('DELETE', `/api-keys/${id}`, { token })).body, { success: true });
  t.is(await works(rotated.body.key), 401, 'at once');
  const read = await platform.call<object>('GET', `/api-keys/${id}`, { token });
  t.like(read.body, { status: 'revoked' });
  t.false('key' in read.body || 'keyHash' in read.body);
  t.deepEqual(
    (await platform.audits({ orgId })).map((row) => [row.action, row.resource_id]),
    ['api_key.create', 'api_key.update', 'api_key.rotate', 'api_key.revoke'].map((action) => [action, id]),
  );
});

test('revoked and expired keys stay as they are', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const make = async (more: object) =>
    (await platform.call<Key>('POST', '/api-keys', { token, body: { orgId, name: 'k', ...more } })).body.id;
  const gone = await make({});
  await platform.call('DELETE', `/api-keys/${gone}`, { token });
  const overdue = await make({ expiresAt: '2020-01-01T00:00:00.000Z' });
  for (const id of [gone, overdue]) {
    for (const [method, path, body] of [
      ['PATCH', '', { name: 'n' }],
      ['POST', '/rotate', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      const { status, body: answer } = await platform.call<ErrorBody>(method, `/api-keys/${id}${path}`, {
        token,
        ...(body ? { body } : {}),
      });
      t.is(status, 409);
      t.is(answer.error.code, 'INVALID_STATE');
    }
  }
  const ids = async (status: string) =>
    (await platform.call<{ data: Key[] }>('GET', `/api-keys?status=${status}`, { token })).body.data.map(
      (key) => key.id,
    );
  t.deepEqual(await ids('expired'), [overdue]);
  t.deepEqual(await ids('revoked'), [gone]);
  t.deepEqual(await ids('active'), []);
});

test('nobody gives a key more than they hold, nor rotates one that holds more', async (t) => {
  const { orgAdmin, orgId, partnerId } = await tenant(platform);
  const [role] = await platform.sql<{ id: string }>(
    `with r as (insert into roles (partner_id, scope, name) values ($1, 'organization', 'Keys') returning id)
     insert into role_permissions (role_id, permission_id)
     select r.id, p.id from r, permissions p
     where (p.resource, p.action) in (('organizations', 'create'), ('organizations', 'update'), ('devices', 'view'))
     returning role_id as id`,
    [partnerId],
  );
  const { token } = await orgUser(platform, { orgId, roleId: role?.id ?? '' });
  const make = (scopes: string[], by = token) =>
    platform.call<Key & ErrorBody>('POST', '/api-keys', { token: by, body: { orgId, name: 'k', scopes } });
  t.is((await make(['devices:read', 'organizations:write'])).status, 201);
  for (const scope of ['devices:write', 'scripts:execute', '*', 'ai:read'])
    t.is((await make([scope])).status, 403, scope);
  const strong = await make(['*'], orgAdmin.token);
  t.is(strong.status, 201);
  t.is((await platform.call('POST', `/api-keys/${strong.body.id}/rotate`, { token })).status, 403);
  t.is(await works(strong.body.key), 200);
  const unknown = await make(['devices:fly'], orgAdmin.token);
  t.is(unknown.status, 400);
  t.is(unknown.body.error.details[0]?.path, 'scopes.0');
});

test('another partner finds no key, and neither a key, a viewer, nor a login without the second factor writes', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const { orgId } = mine;
  const body = { orgId, name: 'k' };
  const { id } = (await platform.call<Key>('POST', '/api-keys', { token: mine.orgAdmin.token, body })).body;
  const { token } = theirs.orgAdmin;
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
  ] as const)
    t.is((await platform.call(method, `/api-keys/${id}${path}`, { token })).status, 404);
  t.is((await platform.call('POST', '/api-keys', { token, body })).status, 403);
  t.is((await platform.call('GET', `/api-keys?orgId=${orgId}`, { token })).status, 403);
  t.is((await platform.call('POST', '/api-keys', { token: mine.viewer.token, body })).status, 403);
  const plain = await orgUser(platform, { orgId, mfa: false });
  const refused = await platform.call<ErrorBody>('POST', '/api-keys', { token: plain.token, body });
  t.is(refused.body.error.code, 'MFA_VERIFICATION_REQUIRED');
  const key = await apiKey(platform, { orgId, scopes: ['organizations:write', '*'], createdBy: mine.orgAdmin.id });
  t.is((await platform.call('POST', '/api-keys', { apiKey: key, body })).status, 401);
  const limited = await orgUser(platform, { orgId, siteIds: [mine.siteId] });
  t.is((await platform.call('POST', '/api-keys', { token: limited.token, body })).status, 403);
  const [kept] = await platform.sql<{ id: string }>('select id from api_keys where org_id = $1 limit 1', [orgId]);
  const revoked = await platform.call<ErrorBody>('DELETE', `/api-keys/${kept?.id}`, { token: limited.token });
  t.deepEqual([revoked.status, revoked.body.error.code], [403, 'TARGET_OUT_OF_SCOPE']);
  t.is((await platform.sql('select 1 from api_keys where org_id = $1', [orgId])).length, 2);
});

test('a partner user sees the keys of the organizations they reach, newest first', async (t) => {
  const { orgId, orgAdmin, partnerId, siteId: _ } = await tenant(platform);
  const other = await organization(platform, partnerId);
  await apiKey(platform, { orgId, scopes: [], createdBy: orgAdmin.id });
  await apiKey(platform, { orgId: other.orgId, scopes: [], createdBy: orgAdmin.id });
  const [role] = await platform.sql<{ id: string }>(
    `with r as (insert into roles (partner_id, scope, name) values ($1, 'partner', 'Some') returning id)
     insert into role_permissions select r.id, p.id from r, permissions p where p.resource = '*' returning role_id as id`,
    [partnerId],
  );
  const roleId = role?.id ?? '';
  const seen = async (orgAccess: 'all' | 'selected' | 'none', orgIds: string[] = []) => {
    const { token } = await partnerUser(platform, { partnerId, roleId, orgAccess, orgIds });
    const { body } = await platform.call<{ data: { orgId: string }[] }>('GET', '/api-keys', { token });
    return body.data.map((key) => key.orgId);
  };
  t.deepEqual(await seen('all'), [other.orgId, orgId]);
  t.deepEqual(await seen('selected', [orgId]), [orgId]);
  t.deepEqual(await seen('none'), []);
});
