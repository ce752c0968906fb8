/** Who somebody from a provider is here. */
import test from 'ava';
import { organization, orgUser, partnerUser, ROLES } from '#test';
import { Browser } from './browser.ts';
import { person, place, startPlatform, startProvider } from './ground.ts';
import type { Somebody } from './identity-provider.ts';

const [platform, provider] = await Promise.all([startPlatform(), startProvider()]);
platform.newcomers = true;
test.after.always(async () => {
  await platform.stop();
  await provider.stop();
});

const logIn = (orgId: string, somebody: Somebody) => new Browser(platform).logIn(orgId, provider, somebody);
const errorOf = async (orgId: string, somebody: Somebody) => (await logIn(orgId, somebody)).error;
const accounts = (email = '') =>
  platform.sql<{ id: string; name: string; password: string | null }>(
    'select id, name, password_hash as password from users where lower(email) = lower($1)',
    [email],
  );
const membership = (orgId: string, userId = '') =>
  platform.sql<{ role_id: string; site_ids: string[] | null }>(
    'select role_id, site_ids from organization_users where org_id = $1 and user_id = $2',
    [orgId, userId],
  );
const provisioning = { autoProvision: true, defaultRoleId: ROLES.technician };
const setProvider = (id: string, set: string) => platform.sql(`update sso_providers set ${set} where id = $1`, [id]);

test('with autoProvision somebody without an account gets one, with the default role, once', async (t) => {
  const { orgId } = await place(platform, provider.issuer, provisioning);
  const browser = new Browser(platform);
  const somebody = person(undefined, { name: 'Grace Hopper' });
  const { code } = await browser.logIn(orgId, provider, somebody);
  const { body } = await browser.exchange(code);
  const [user] = await accounts(somebody.email);
  t.like(user, { name: 'Grace Hopper', password: null });
  t.deepEqual(await membership(orgId, user?.id), [{ role_id: ROLES.technician, site_ids: null }]);
  const me = await platform.call('GET', '/auth/me', { token: body.tokens.accessToken });
  t.like(me.body as object, { id: user?.id, orgId, roleName: 'Technician' });
  t.truthy((await logIn(orgId, { ...somebody, name: 'Renamed' })).code);
  t.is((await accounts(somebody.email)).length, 1);
  const seen = (await platform.audits({ orgId })).filter(({ resource_id }) => resource_id === user?.id);
  t.deepEqual(
    seen.map(({ action }) => action).filter((action) => action !== 'user.login'),
    ['user.create', 'user.provision', 'sso.identity.link'],
  );
});

test('two first logins of one person at once make one account', async (t) => {
  const { orgId } = await place(platform, provider.issuer, provisioning);
  const somebody = person();
  const landings = await Promise.all([1, 2, 3].map(() => logIn(orgId, somebody)));
  t.deepEqual(
    landings.map(({ error }) => error),
    [null, null, null],
  );
  t.is((await accounts(somebody.email)).length, 1);
});

test('without autoProvision nobody unknown gets in, and no account is left behind', async (t) => {
  const { orgId } = await place(platform, provider.issuer);
  const somebody = person();
  t.is(await errorOf(orgId, somebody), 'user_not_found');
  t.deepEqual(await accounts(somebody.email), []);
});

test('autoProvision without a default role that can be given lets nobody new in', async (t) => {
  const { orgId, orgAdmin, provider: made } = await place(platform, provider.issuer, provisioning);
  await setProvider(made.id, 'default_role_id = null');
  const somebody = person();
  t.is(await errorOf(orgId, somebody), 'default_role_required');
  t.deepEqual(await accounts(somebody.email), []);
  t.truthy((await logIn(orgId, person(orgAdmin.email))).code, 'members still get in');
  await setProvider(made.id, `default_role_id = '${ROLES.systemAdmin}'`);
  t.is(await errorOf(orgId, person()), 'default_role_required', 'a role of elsewhere is none');
});

test('an invited person gets in with the invitation, its role and its limits, also without autoProvision', async (t) => {
  const { orgId, siteId, orgAdmin } = await place(platform, provider.issuer);
  const invited = person();
  const made = await platform.call('POST', '/users/invite', {
    token: orgAdmin.token,
    body: { email: invited.email, name: 'Invited', roleId: ROLES.viewer, siteIds: [siteId] },
  });
  t.is(made.status, 201, JSON.stringify(made.body));
  t.is(await errorOf(orgId, { ...invited, email_verified: false }), 'email_not_verified');
  t.truthy((await logIn(orgId, invited)).code);
  const [user] = await accounts(invited.email);
  t.deepEqual(await membership(orgId, user?.id), [{ role_id: ROLES.viewer, site_ids: [siteId] }]);
  t.deepEqual(await platform.sql('select id from invitations where email = $1', [invited.email]), []);
});

test('an address that the provider has not verified finds nobody, unless the provider is trusted in silence', async (t) => {
  const { orgId, orgAdmin, provider: made } = await place(platform, provider.issuer);
  const silent = person(orgAdmin.email);
  delete silent.email_verified;
  t.is(await errorOf(orgId, person(orgAdmin.email, { email_verified: false })), 'email_not_verified');
  t.is(await errorOf(orgId, silent), 'email_not_verified');
  await setProvider(made.id, 'trust_email = true');
  t.is(await errorOf(orgId, person(orgAdmin.email, { email_verified: false })), 'email_not_verified', 'it said no');
  t.truthy((await logIn(orgId, silent)).code);
  await setProvider(made.id, 'trust_email = false');
  t.truthy((await logIn(orgId, silent)).code, 'once linked the subject counts');
});

test('somebody without an address gets nowhere', async (t) => {
  const { orgId } = await place(platform, provider.issuer, provisioning);
  const somebody = person();
  delete somebody.email;
  t.is(await errorOf(orgId, somebody), 'email_missing');
  t.is(await errorOf(orgId, person('not an address')), 'email_missing');
});

test('only the allowed domains get in, members and linked people included', async (t) => {
  const { orgId, orgAdmin, provider: made } = await place(platform, provider.issuer, provisioning);
  const somebody = person(orgAdmin.email);
  t.truthy((await logIn(orgId, somebody)).code);
  await setProvider(made.id, `allowed_domains = '{bakery.example,xn--bckerei-5wa.example}'`);
  t.is(await errorOf(orgId, somebody), 'domain_not_allowed');
  for (const email of [
    'a@sub.bakery.example',
    'a@bakery.example.com',
    'a@bakery.example@example.com',
    'a@notbakery.example',
  ]) {
    const { error } = await logIn(orgId, person(email));
    t.true(['domain_not_allowed', 'email_missing'].includes(error ?? ''), email);
  }
  t.truthy((await logIn(orgId, person(`${somebody.sub}@BAKERY.example`))).code);
  t.truthy((await logIn(orgId, person(`${somebody.sub}@bäckerei.example`))).code);
});

test('a member of another organization is no member here, provisioning or not', async (t) => {
  const { orgId } = await place(platform, provider.issuer, provisioning);
  const elsewhere = await place(platform, provider.issuer);
  for (const stranger of [elsewhere.viewer, elsewhere.partner]) {
    t.is(await errorOf(orgId, person(stranger.email)), 'no_org_access');
    t.deepEqual(await membership(orgId, stranger.id), []);
  }
});

test('a member who is more than that elsewhere is not linked by an address', async (t) => {
  const { orgId, partnerId, partnerRoleId, orgAdmin } = await place(platform, provider.issuer);
  const other = await organization(platform, partnerId);
  const both = await orgUser(platform, { orgId });
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[other.orgId, both.id, ROLES.viewer],
  ]);
  const msp = await partnerUser(platform, { partnerId, roleId: partnerRoleId });
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[orgId, msp.id, ROLES.viewer],
  ]);
  const root = await orgUser(platform, { orgId });
  await platform.sql('insert into system_users values ($1, $2)', [root.id, ROLES.systemAdmin]);
  for (const member of [both, msp, root]) {
    t.is(await errorOf(orgId, person(member.email)), 'link_refused', member.email);
    const failed = await platform.audits({ action: 'user.login.failed', orgId });
    t.like(
      failed.find(({ actor_id }) => actor_id === member.id),
      { result: 'failure', details: { via: 'sso' } },
    );
  }
  t.deepEqual(await platform.sql('select id from sso_identities where user_id = any($1)', [[both.id, msp.id]]), []);
  t.truthy((await logIn(orgId, person(orgAdmin.email))).code);
});

test('whoever gets a place elsewhere after being linked is not let in on the word of the provider alone', async (t) => {
  const { orgId, partnerId, viewer } = await place(platform, provider.issuer);
  const somebody = person(viewer.email, { amr: ['mfa'] });
  const browser = new Browser(platform);
  const early = await browser.logIn(orgId, provider, somebody);
  t.truthy(early.code);
  const other = await organization(platform, partnerId);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[other.orgId, viewer.id, ROLES.viewer],
  ]);
  t.is(await errorOf(orgId, somebody), 'link_refused');
  t.is((await browser.exchange(early.code)).body.error.code, 'SSO_CODE_INVALID', 'nor with a code from before');
});

test('a subject keeps its account when the address changes, and an address does not bring another subject in', async (t) => {
  const { orgId, viewer } = await place(platform, provider.issuer, provisioning);
  const somebody = person(viewer.email);
  t.truthy((await logIn(orgId, somebody)).code);
  const browser = new Browser(platform);
  const { code } = await browser.logIn(orgId, provider, { ...somebody, email: 'married@example.com' });
  t.like((await browser.exchange<{ user: object }>(code)).body.user, { id: viewer.id, email: viewer.email });
  t.is(await errorOf(orgId, person(viewer.email)), 'link_refused', 'the address was given to somebody else');
});

test('a disabled user stays outside, linked or not', async (t) => {
  const { orgId, viewer, orgAdmin } = await place(platform, provider.issuer, provisioning);
  const linked = person(viewer.email);
  t.truthy((await logIn(orgId, linked)).code);
  await platform.sql(`update users set status = 'disabled' where id = any($1)`, [[viewer.id, orgAdmin.id]]);
  t.is(await errorOf(orgId, linked), 'no_org_access');
  t.is(await errorOf(orgId, person(orgAdmin.email)), 'no_org_access');
});

test('whom an administrator removed is brought back by an invitation and not by provisioning', async (t) => {
  const { orgId, viewer, orgAdmin } = await place(platform, provider.issuer, provisioning);
  const somebody = person(viewer.email);
  t.truthy((await logIn(orgId, somebody)).code);
  await platform.sql('delete from organization_users where user_id = $1', [viewer.id]);
  t.is(await errorOf(orgId, somebody), 'no_org_access');
  const body = { email: viewer.email, name: 'Back', roleId: ROLES.viewer };
  t.is((await platform.call('POST', '/users/invite', { token: orgAdmin.token, body })).status, 201);
  t.truthy((await logIn(orgId, somebody)).code);
});

test('an account that a stranger registered for somebody else’s address is worth nothing once its owner comes', async (t) => {
  const { orgId } = await place(platform, provider.issuer, provisioning);
  const somebody = person();
  const password = 'quite-a-Long-horse-9';
  await platform.call('POST', '/auth/register', { body: { name: 'Mallory', email: somebody.email, password } });
  const browser = new Browser(platform);
  const { code } = await browser.logIn(orgId, provider, somebody);
  t.is((await browser.exchange(code)).status, 200);
  const stranger = await platform.call('POST', '/auth/login', { body: { email: somebody.email, password } });
  t.is(stranger.status, 401);
  t.like((await accounts(somebody.email))[0], { password: null });
});

test('the claims that hold address and name can be named', async (t) => {
  const attributeMapping = { email: 'work_address', name: 'shown_as' };
  const { orgId, provider: made } = await place(platform, provider.issuer, { ...provisioning, attributeMapping });
  const somebody = person('private@example.com', {
    forge: (claims) => ({ ...claims, work_address: 'Eve@Work.example', shown_as: 'Eve' }),
  });
  t.is(await errorOf(orgId, somebody), 'email_not_verified', 'email_verified speaks of another address');
  await setProvider(made.id, 'trust_email = true');
  t.truthy((await logIn(orgId, somebody)).code);
  t.like((await accounts('eve@work.example'))[0], { name: 'Eve' });
});
