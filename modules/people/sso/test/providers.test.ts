/** Providers through the API: who may set them up, what is refused, and that their secrets stay secret. */
import test from 'ava';
import { apiKey, orgUser, partnerUser, ROLES, systemUser, tenant } from '#test';
import { type Answer, activeProvider, bodyOf, type ProviderSeen, startPlatform, startProvider } from './ground.ts';
import { CLIENT } from './identity-provider.ts';

const [platform, provider] = await Promise.all([startPlatform(), startProvider()]);
test.after.always(async () => {
  await platform.stop();
  await provider.stop();
});

const ISSUER = 'https://login.bakery.example';
const call = <B = Answer>(method: string, path: string, token: string, body?: object) =>
  platform.call<B>(method, `/sso/providers${path}`, { token, ...(body ? { body } : {}) });
const create = (token: string, more: object = {}) => call('POST', '', token, bodyOf(ISSUER, more));
const codeOf = ({ status, body }: { status: number; body: Answer }) => [status, body.error?.code];

test('a provider is created inactive, read, listed, changed and removed, and each step is audited', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const made = await create(token, { allowedDomains: ' Bakery.example, bäckerei.example,,bakery.example ' });
  t.is(made.status, 201);
  const { id } = made.body.data;
  t.like(made.body.data as object, {
    orgId,
    name: 'Head office',
    type: 'oidc',
    preset: 'custom',
    status: 'inactive',
    issuer: ISSUER,
    clientId: CLIENT.clientId,
    hasClientSecret: true,
    clientAuth: 'auto',
    attributeMapping: { email: 'email', name: 'name' },
    trustEmail: false,
    autoProvision: false,
    defaultRoleId: null,
    allowedDomains: 'bakery.example,xn--bckerei-5wa.example',
    enforceSSO: false,
    testedAt: null,
    createdBy: orgAdmin.id,
  });
  const changed = await call('PATCH', `/${id}`, token, {
    name: 'Branch',
    allowedDomains: ['shop.example'],
    scopes: ['openid', 'email'],
    clientSecret: null,
  });
  t.like(changed.body.data as object, { name: 'Branch', allowedDomains: 'shop.example', hasClientSecret: false });
  t.is((await call('PATCH', `/${id}`, token, {})).body.error.message, 'No updates provided');
  await create(token, { name: 'another' });
  const list = await call<{ data: ProviderSeen[]; pagination: object }>('GET', `?orgId=${orgId}`, token);
  t.deepEqual(
    list.body.data.map(({ name }) => name),
    ['another', 'Branch'],
  );
  t.like(list.body.pagination, { page: 1, total: 2 });
  const paged = await call<{ data: ProviderSeen[]; pagination: { cursor: string } }>('GET', '?cursor=&limit=1', token);
  const next = await call<{ data: ProviderSeen[] }>('GET', `?cursor=${paged.body.pagination.cursor}`, token);
  t.deepEqual(
    [...paged.body.data, ...next.body.data].map(({ name }) => name),
    ['another', 'Branch'],
  );
  t.is((await call('POST', `/${id}/status`, token, { status: 'testing' })).body.data.status, 'testing');
  t.is((await call('POST', `/${id}/status`, token, { status: 'testing' })).status, 200, 'again');
  t.deepEqual((await call<object>('DELETE', `/${id}`, token)).body, { success: true });
  t.is((await call('GET', `/${id}`, token)).status, 404);
  const seen = (await platform.audits({ orgId })).filter(({ resource_id }) => resource_id === id);
  t.like(seen[1]?.details, {
    changedFields: ['name', 'allowedDomains', 'scopes', 'clientSecret'],
    after: { name: 'Branch', allowedDomains: 'shop.example' },
  });
  t.deepEqual(
    seen.map(({ action, details }) => [action, details]),
    [
      ['sso.provider.create', { issuer: ISSUER }],
      ['sso.provider.update', seen[1]?.details],
      [
        'sso.provider.update',
        { changedFields: ['status'], before: { status: 'inactive' }, after: { status: 'testing' } },
      ],
      ['sso.provider.delete', { issuer: ISSUER, identities: 0 }],
    ],
  );
});

test('settings that cannot work are refused by path', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  const path = async (more: object) => {
    const { status, body } = await create(token, more);
    return status === 400 ? body.error.details[0]?.path : `${status}`;
  };
  t.is(await path({ autoProvision: true }), 'defaultRoleId');
  t.is(await path({ allowedDomains: 'bakery.example,not a domain' }), 'allowedDomains');
  t.is(await path({ allowedDomains: ['someone@bakery.example'] }), 'allowedDomains');
  t.is(await path({ allowedDomains: 7 }), 'allowedDomains');
  t.is(await path({ scopes: ['email'] }), 'scopes');
  t.is(await path({ scopes: ['openid', 'two words'] }), 'scopes.1');
  for (const issuer of [
    'ftp://login.bakery.example',
    'https://user:secret@login.bakery.example',
    'https://login.bakery.example/?tenant=1',
    'https://login.bakery.example/.well-known/openid-configuration',
    'https://login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.com/organizations/v2.0',
    'nothing',
  ]) {
    t.is(await path({ issuer }), 'issuer', issuer);
  }
  const google = { issuer: 'https://accounts.google.com', autoProvision: true, defaultRoleId: ROLES.viewer };
  t.is(await path(google), 'allowedDomains', 'everybody has an account there');
  t.is(await path({ ...google, allowedDomains: 'bakery.example' }), '201');
  t.deepEqual(codeOf(await create(token)), [409, 'NAME_TAKEN'], 'names are unique whatever their case');
  t.deepEqual(codeOf(await create(token, { name: 'HEAD OFFICE' })), [409, 'NAME_TAKEN']);
});

test('plain http is an issuer only where the operator allows it', async (t) => {
  const strict = await startPlatform({ OUTBOUND_ALLOW_HTTP: 'false', OUTBOUND_ALLOW_CIDRS: '' });
  t.teardown(() => strict.stop());
  const { orgAdmin } = await tenant(strict);
  const { token } = orgAdmin;
  const made = await strict.call<Answer>('POST', '/sso/providers', { token, body: bodyOf('http://127.0.0.1:9') });
  t.is(made.body.error.details[0]?.path, 'issuer');
  const inside = await strict.call<Answer>('POST', '/sso/providers', { token, body: bodyOf('https://127.0.0.1:9') });
  const tested = await strict.call('POST', `/sso/providers/${inside.body.data.id}/test`, { token });
  t.like(tested.body as object, { success: false, error: { code: 'URL_BLOCKED' } });
});

test('the role for new people must be one that this organization and this caller may give', async (t) => {
  const { orgAdmin, partner, partnerRoleId, orgId } = await tenant(platform);
  const other = await tenant(platform);
  await platform.sql('update users set mfa_enabled = true where id = $1', [partner.id]);
  const [foreign] = await platform.sql<{ id: string }>(
    `insert into roles (org_id, scope, name) values ($1, 'organization', 'Theirs') returning id`,
    [other.orgId],
  );
  const withRole = (defaultRoleId: unknown) => ({ name: `${defaultRoleId}`, autoProvision: true, defaultRoleId });
  t.is((await create(orgAdmin.token, withRole(ROLES.technician))).status, 201);
  for (const roleId of [foreign?.id, partnerRoleId, ROLES.systemAdmin]) {
    t.is((await create(orgAdmin.token, withRole(roleId))).status, 404, roleId);
    t.is((await create(partner.token, { ...withRole(roleId), orgId })).status, 404, roleId);
  }
  const { id } = (await create(orgAdmin.token, { name: 'Plain' })).body.data;
  const changed = await call('PATCH', `/${id}`, orgAdmin.token, { defaultRoleId: foreign?.id });
  t.is(changed.status, 404);
  t.is(
    (await call('PATCH', `/${id}`, orgAdmin.token, { autoProvision: true })).body.error.details[0]?.path,
    'defaultRoleId',
  );
});

test('a role that new people get cannot be removed', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const [role] = await platform.sql<{ id: string }>(
    `insert into roles (org_id, scope, name) values ($1, 'organization', 'Newcomer') returning id`,
    [orgId],
  );
  await create(orgAdmin.token, { autoProvision: true, defaultRoleId: role?.id });
  const { status, body } = await platform.call<Answer>('DELETE', `/roles/${role?.id}`, { token: orgAdmin.token });
  t.is(status, 400, JSON.stringify(body));
  t.regex(JSON.stringify(body), /ssoProviders/);
});

test('only who may do everything in the whole organization sets up who comes in', async (t) => {
  const { orgAdmin, orgId, siteId, viewer, partnerId } = await tenant(platform);
  const { id } = (await create(orgAdmin.token)).body.data;
  const [role] = await platform.sql<{ id: string }>(
    `insert into roles (org_id, scope, name) values ($1, 'organization', 'Office') returning id`,
    [orgId],
  );
  await platform.sql(
    `insert into role_permissions (role_id, permission_id) select $1, id from permissions where resource = 'organizations'`,
    [role?.id],
  );
  const office = await orgUser(platform, { orgId, roleId: role?.id ?? '' });
  const narrow = await orgUser(platform, { orgId, siteIds: [siteId] });
  const key = await apiKey(platform, {
    orgId,
    scopes: ['organizations:read', 'organizations:write'],
    createdBy: viewer.id,
  });
  const [msp] = await platform.sql<{ id: string }>(
    `insert into roles (partner_id, scope, name) values ($1, 'partner', 'Sales') returning id`,
    [partnerId],
  );
  await platform.sql(
    `insert into role_permissions (role_id, permission_id) select $1, id from permissions where resource = 'organizations'`,
    [msp?.id],
  );
  const sales = await partnerUser(platform, { partnerId, roleId: msp?.id ?? '' });
  const writes = (token: string) =>
    Promise.all([
      create(token, { name: 'x', orgId }),
      call('PATCH', `/${id}`, token, { issuer: 'https://evil.example', clientSecret: 'x' }),
      call('POST', `/${id}/status`, token, { status: 'active' }),
      call('DELETE', `/${id}`, token),
    ]);
  for (const { token } of [office, narrow, viewer, sales]) {
    t.deepEqual(
      (await writes(token)).map(({ status }) => status),
      [403, 403, 403, 403],
    );
  }
  t.is((await call('GET', `/${id}`, office.token)).status, 200);
  t.is((await platform.call('GET', `/sso/providers/${id}`, { apiKey: key })).status, 200);
  const byKey = await platform.call('DELETE', `/sso/providers/${id}`, { apiKey: key });
  t.is(byKey.status, 401, 'no API key writes');
  const denied = await platform.audits({ action: 'sso.provider.update', orgId });
  t.true(denied.some(({ result, actor_id }) => result === 'denied' && actor_id === office.id));
});

test('another tenant reaches nothing, and a foreign organization may not be named', async (t) => {
  const [mine, theirs] = [await tenant(platform), await tenant(platform)];
  const { id } = (await create(mine.orgAdmin.token)).body.data;
  await platform.sql('update users set mfa_enabled = true where id = $1', [theirs.partner.id]);
  for (const { token } of [theirs.orgAdmin, theirs.partner]) {
    t.is((await call('GET', `/${id}`, token)).status, 404);
    t.is((await call('PATCH', `/${id}`, token, { name: 'x' })).status, 404);
    t.is((await call('DELETE', `/${id}`, token)).status, 404);
    t.is((await call('POST', `/${id}/status`, token, { status: 'active' })).status, 404);
    t.is((await call('POST', `/${id}/test`, token)).status, 404);
    t.deepEqual((await call<{ data: [] }>('GET', '', token)).body.data, []);
    t.is((await call('GET', `?orgId=${mine.orgId}`, token)).status, 403);
    t.is((await create(token, { orgId: mine.orgId })).status, 403);
  }
  t.is((await create(theirs.partner.token)).body.error.code, 'ORG_REQUIRED');
  t.is((await create(theirs.partner.token, { orgId: theirs.orgId })).status, 201);
  const admin = await systemUser(platform);
  t.is((await create(admin.token)).body.error.code, 'ORG_REQUIRED');
  t.is((await create(admin.token, { orgId: mine.orgId, name: 'By the system' })).status, 201);
});

test('the secret is in no answer, no audit entry and not readable in the database', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const made = await create(token);
  const { id } = made.body.data;
  const answers = [
    made,
    await call('GET', `/${id}`, token),
    await call('GET', '', token),
    await call('PATCH', `/${id}`, token, { clientSecret: `${CLIENT.clientSecret}-2` }),
    await call('POST', `/${id}/test`, token),
  ];
  const [row] = await platform.sql<{ all: string }>('select p::text as all from sso_providers p where id = $1', [id]);
  const told = JSON.stringify([answers, row, await platform.audits({ orgId })]);
  t.regex(told, /hasClientSecret/);
  t.false(told.includes(CLIENT.clientSecret));
});

test('another issuer wants the secret again and forgets who was linked', async (t) => {
  const { orgAdmin, orgId, viewer } = await tenant(platform);
  const { token } = orgAdmin;
  const { id } = (await create(token)).body.data;
  const linked = () => platform.sql('select id from sso_identities where provider_id = $1', [id]);
  const link = () =>
    platform.sql(
      `insert into sso_identities (org_id, provider_id, user_id, subject, email) values ($1, $2, $3, 's', 'e')`,
      [orgId, id, viewer.id],
    );
  await link();
  const issuer = 'https://evil.example';
  const refused = await call('PATCH', `/${id}`, token, { issuer });
  t.deepEqual(codeOf(refused), [400, 'CLIENT_SECRET_REQUIRED']);
  t.is(refused.body.error.details[0]?.path, 'clientSecret');
  t.is((await call('PATCH', `/${id}`, token, { issuer: ISSUER, name: 'Same' })).status, 200, 'the same issuer');
  t.is((await linked()).length, 1);
  t.is((await call('PATCH', `/${id}`, token, { issuer, clientSecret: 'theirs' })).status, 200);
  t.is((await linked()).length, 0);
  await link();
  t.is((await call('PATCH', `/${id}`, token, { clientId: 'another' })).status, 200);
  t.is((await linked()).length, 0);
  t.is((await call('PATCH', `/${id}`, token, { clientSecret: null })).body.data.hasClientSecret, false);
  t.is((await call('PATCH', `/${id}`, token, { issuer: ISSUER })).status, 200, 'without a secret nothing is at stake');
});

test('one provider of an organization is active, also when two are set at once', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  const ids = [];
  for (const name of ['a', 'b']) ids.push((await create(token, { name })).body.data.id);
  const [a, b] = ids;
  const set = (id: string | undefined, status: string) => call('POST', `/${id}/status`, token, { status });
  const both = await Promise.all([set(a, 'active'), set(b, 'active')]);
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  t.is(both.find(({ status }) => status === 409)?.body.error.code, 'SSO_PROVIDER_ACTIVE');
  t.is((await set(a, 'inactive')).status, 200);
  t.is((await set(b, 'active')).status, 200);
  t.is((await set(b, 'retired')).status, 400);
});

test('a test says what it found, or what is to be mended', async (t) => {
  const own = await startProvider();
  t.teardown(() => own.stop());
  const owner = await tenant(platform);
  const { token } = owner.orgAdmin;
  const { id } = await activeProvider(platform, owner, own.issuer);
  interface Result {
    success: boolean;
    checkedAt: string;
    issuer: string;
    callbackUrl: string;
    endpoints?: object;
    error?: { code: string; message: string };
  }
  const tryIt = async () => (await call<Result>('POST', `/${id}/test`, token)).body;
  const testedAt = async () => (await call('GET', `/${id}`, token)).body.data.testedAt;
  const good = await tryIt();
  t.like(good, {
    success: true,
    issuer: own.issuer,
    callbackUrl: 'http://localhost:3000/api/v1/sso/callback',
    endpoints: {
      authorization: `${own.issuer}/auth`,
      token: `${own.issuer}/token`,
      jwks: `${own.issuer}/jwks`,
      userinfo: `${own.issuer}/me`,
    },
  });
  t.is(await testedAt(), good.checkedAt);
  const wrong = async (issuer: string) => {
    await platform.sql('update sso_providers set issuer = $2 where id = $1', [id, issuer]);
    return (await tryIt()).error?.code;
  };
  t.is(await wrong(`${own.issuer}/nowhere`), 'UNEXPECTED_STATUS');
  t.is(await wrong(own.issuer.replace('127.0.0.1', 'localhost')), 'ISSUER_MISMATCH');
  t.is(await wrong(`${platform.url}/health`), 'UNEXPECTED_STATUS');
  t.is(await testedAt(), null);
  await own.stop();
  t.is(await wrong(own.issuer), 'UPSTREAM_ERROR');
  await own.start();
  t.true((await tryIt()).success, 'a test never looks into the memory');
});

test('presets tell issuers, scopes and the callback URL', async (t) => {
  const { viewer } = await tenant(platform);
  const { status, body } = await platform.call<{ data: { id: string; issuer: string }[]; callbackUrl: string }>(
    'GET',
    '/sso/presets',
    { token: viewer.token },
  );
  t.is(status, 200);
  t.deepEqual(
    body.data.map(({ id }) => id),
    ['entra', 'google', 'okta', 'auth0', 'keycloak', 'custom'],
  );
  t.is(body.callbackUrl, 'http://localhost:3000/api/v1/sso/callback');
});
