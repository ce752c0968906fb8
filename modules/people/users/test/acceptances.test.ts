/** Accepting an invitation with the link of the mail. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { hashPassword } from '#core/auth';
import { orgUser, ROLES, startTestPlatform, tenant, until } from '#test';
import { anAddress, caller, fromSomewhere, mailsTo, onPlatform, PASSWORD, tokenFor, tokenIn } from './arrange.ts';

// A login is by password alone here; the second factor has tests of its own.
const platform = await startTestPlatform({ ENABLE_2FA: 'false', TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());
const { as, invite, list, open } = caller(platform);

/** Organizations that take no password; stands in for single sign-on. */
const closed = new Set<string>();
const { work } = platform.platform.tasks;
const filled = work.contributions;
work.contributions = (slot) =>
  slot === 'identity.login-rule'
    ? [{ withoutPassword: async (_ctx: unknown, orgIds: string[]) => orgIds.filter((id) => closed.has(id)) }]
    : filled(slot);

const check = (token: string) => open('invitations/check', { token });
const accept = (token: string, more: object = {}) => open('accept-invite', { token, ...more });
const login = (email: string, more: object = {}) =>
  platform.call<{ tokens: { accessToken: string } }>('POST', '/auth/login', {
    body: { email, password: PASSWORD, ...more },
    headers: fromSomewhere(),
  });
/** Mails run one after another, so that the tests that read them do too. */
async function invited(token: string, body: object = {}) {
  const { body: item } = await invite(token, body);
  return { ...item, link: await tokenFor(platform, item.email) };
}

test.serial(
  'a new address sets a password, gets the account under the invitation’s id, and is logged in',
  async (t) => {
    const { orgAdmin, orgId, siteId } = await tenant(platform);
    const { id, email, link } = await invited(orgAdmin.token, { roleId: ROLES.technician, siteIds: [siteId] });
    const seen = await check(link);
    t.like(seen.body, { email, name: 'Ann Example', accountExists: false, passwordRequired: true });
    t.is(seen.body.tenant?.kind, 'organization');
    const { status, body, headers } = await accept(link, { name: 'Ann Other', password: PASSWORD });
    t.is(status, 200);
    t.is(body.user?.id, id);
    t.true(headers.getSetCookie().some((cookie) => cookie.startsWith('svc_refresh_token=')));
    const token = body.tokens?.accessToken ?? '';
    const me = await platform.call<{ name: string; orgId: string; roleId: string }>('GET', '/auth/me', { token });
    t.like(me.body, { name: 'Ann Other', orgId, roleId: ROLES.technician });
    t.like((await as(orgAdmin.token, 'GET', `/users/${id}`)).body, { status: 'active', siteIds: [siteId], email });
    t.is((await login(email)).status, 200);
    t.is((await accept(link, { password: PASSWORD })).body.error.code, 'INVITATION_INVALID');
    const actions = ['user.create', 'user.invite.accept', 'user.login'];
    for (const action of actions) {
      const rows = (await platform.audits({ action, orgId })).filter((row) => row.resource_id === id);
      t.true(rows.length > 0, action);
      t.is(rows[0]?.actor_id, id);
    }
    t.is((await platform.audits({ action: 'user.login', orgId }))[0]?.details.via, 'invitation');
    const events = await platform.sql<{ data: object }>(
      `select data from events where name = 'users.joined' and org_id = $1`,
      [orgId],
    );
    t.deepEqual(
      events.map(({ data }) => data),
      [{ userId: id, roleId: ROLES.technician, partnerId: null }],
    );
  },
);

test.serial('a password is wanted, strong, and a refused one leaves the link usable', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { email, link } = await invited(orgAdmin.token);
  const missing = await accept(link);
  t.is(missing.status, 400);
  t.is(missing.body.error.details[0]?.path, 'password');
  t.is((await accept(link, { password: 'short' })).body.error.details[0]?.path, 'password');
  t.is((await accept(link, { password: 'password1' })).body.error.code, 'WEAK_PASSWORD');
  t.is((await accept(link, { password: `${email}1` })).body.error.code, 'WEAK_PASSWORD');
  t.is((await accept(link, { password: PASSWORD })).status, 200);
});

test.serial('an address with an account gets the place only, keeps its password, and logs in with it', async (t) => {
  const { partner, partnerId, partnerRoleId, orgId } = await tenant(platform);
  const elsewhere = await tenant(platform);
  const { id, email } = elsewhere.viewer;
  await platform.sql('update users set password_hash = $2 where id = $1', [id, await hashPassword(PASSWORD)]);
  const inviting = { email: email.toUpperCase(), roleId: partnerRoleId, orgAccess: 'selected', orgIds: [orgId] };
  const { link } = await invited(partner.token, inviting);
  t.like((await check(link)).body, { accountExists: true, passwordRequired: false, tenant: { kind: 'partner' } });
  const asked = await accept(link, { password: 'another-Tall-lamp-4' });
  t.is(asked.status, 400);
  t.is(asked.body.error.details[0]?.path, 'password');
  const { status, body, headers } = await accept(link, { name: 'Somebody Else' });
  t.is(status, 200);
  t.deepEqual(body as object, { success: true, loginRequired: true });
  t.deepEqual(headers.getSetCookie(), []);
  const entered = await login(email, { partnerId });
  t.is(entered.status, 200);
  const me = await platform.call<{ name: string }>('GET', '/users/me', { token: entered.body.tokens.accessToken });
  t.is(me.body.name, `User ${email}`);
  t.is((await login(email, { orgId: elsewhere.orgId })).status, 200, 'the place of before stays');
  const found = await as(partner.token, 'GET', `/users/${id}`);
  t.like(found.body, { status: 'active', orgAccess: 'selected', orgIds: [orgId] });
  t.is((await list(partner.token)).data.length, 2);
  await platform.platform.settle();
  const [audit] = await platform.sql<{ partner_id: string; actor_id: string }>(
    `select partner_id, actor_id from audit_logs where action = 'user.invite.accept' and resource_id = $1`,
    [id],
  );
  t.deepEqual(audit, { partner_id: partnerId, actor_id: id });
});

/** A stranger registers an address, alone or with a partner of their own. */
async function strangerAt(email: string, path: 'register' | 'register-partner') {
  const person = { name: 'Stranger', email, password: STRANGE, acceptTerms: true };
  const body = path === 'register' ? person : { ...person, companyName: 'Waiting' };
  const { status } = await platform.call('POST', `/auth/${path}`, { body, headers: fromSomewhere() });
  const [user] = await platform.sql<{ id: string }>('select id from users where email = $1', [email]);
  return { status, id: user?.id ?? '' };
}
const STRANGE = 'some-Strange-lamp-7';

test.serial('an account without place and factor goes to the person whom the mail reaches', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const email = anAddress();
  const { status, id } = await strangerAt(email, 'register');
  t.is(status, 201);
  const { link } = await invited(orgAdmin.token, { email });
  t.like((await check(link)).body, { accountExists: true, passwordRequired: true, confirmationRequired: false });
  t.is((await accept(link)).status, 400, 'the owner of the address sets a password');
  const accepted = await accept(link, { password: PASSWORD });
  t.like(accepted.body, { user: { id } });
  const old = await login(email, { password: STRANGE });
  t.is(old.status, 401, 'what the stranger knew opens nothing');
  t.is((await login(email, { orgId })).status, 200);
  // The address is shown now: the next invitation changes nothing of the account.
  const second = await tenant(platform);
  const { link: next } = await invited(second.orgAdmin.token, { email });
  t.like((await check(next)).body, { accountExists: true, passwordRequired: false });
  t.is((await accept(next)).body.loginRequired, true);
  t.is((await login(email, { orgId: second.orgId })).status, 200);
});

test.serial(
  'an account in use whose address nobody confirmed keeps everything, and enters only confirmed',
  async (t) => {
    const { orgAdmin, orgId } = await tenant(platform);
    const email = anAddress();
    const { id } = await strangerAt(email, 'register-partner');
    await platform.sql(
      `update users set mfa_enabled = true, mfa_method = 'totp', mfa_secret = 'x', mfa_recovery_codes = '["y"]' where id = $1`,
      [id],
    );
    const stored = () => platform.sql('select password_hash, mfa_enabled, mfa_secret from users where id = $1', [id]);
    const before = await stored();
    const { link } = await invited(orgAdmin.token, { email });
    const seen = { accountExists: true, passwordRequired: false, confirmationRequired: true };
    t.like((await check(link)).body, seen);
    for (const more of [{}, { password: PASSWORD }]) {
      const refused = await accept(link, more);
      t.is(refused.status, 409);
      t.is(refused.body.error.code, 'ADDRESS_UNPROVEN');
    }
    t.deepEqual(await stored(), before);
    t.is((await platform.sql('select from organization_users where user_id = $1', [id])).length, 0);
    await platform.sql('update users set email_proven_at = now() where id = $1', [id]);
    t.is((await accept(link)).body.loginRequired, true);
    t.deepEqual(await stored(), before);
    t.is(
      (await platform.sql('select from organization_users where user_id = $1 and org_id = $2', [id, orgId])).length,
      1,
    );
  },
);

test.serial('what became of a site or organization in the invitation is said, and nothing is widened', async (t) => {
  const { orgAdmin, siteId, partner, partnerRoleId, orgId } = await tenant(platform);
  const sited = await invited(orgAdmin.token, { siteIds: [siteId] });
  const above = await invited(partner.token, { roleId: partnerRoleId, orgAccess: 'selected', orgIds: [orgId] });
  await platform.sql('delete from sites where id = $1', [siteId]);
  await platform.sql('update organizations set deleted_at = now() where id = $1', [orgId]);
  t.is((await accept(above.link, { password: PASSWORD })).body.error.code, 'INVITATION_OUTDATED');
  await platform.sql('update organizations set deleted_at = null where id = $1', [orgId]);
  for (const answer of [await check(sited.link), await accept(sited.link, { password: PASSWORD })]) {
    t.is(answer.status, 409);
    t.is(answer.body.error.code, 'INVITATION_OUTDATED');
  }
  t.is((await platform.sql('select from users where email = $1', [sited.email])).length, 0);
  t.is((await as(orgAdmin.token, 'PATCH', `/users/${sited.id}`, { siteIds: null })).status, 200);
  t.is((await accept(sited.link, { password: PASSWORD })).status, 200);
});

test.serial('of two that accept at the same time one enters, whether or not there is an account', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const fresh = await invited(orgAdmin.token);
  const both = await Promise.all([1, 2].map(() => accept(fresh.link, { password: PASSWORD })));
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
  const elsewhere = await tenant(platform);
  const known = await invited(orgAdmin.token, { email: elsewhere.viewer.email });
  const again = await Promise.all([1, 2].map(() => accept(known.link)));
  t.deepEqual(again.map(({ status }) => status).sort(), [200, 400]);
  const ids = (await list(orgAdmin.token)).data.map(({ id }) => id);
  t.true(ids.includes(fresh.id) && ids.includes(elsewhere.viewer.id));
  t.is(ids.length, 4);
});

test.serial('one address invited by two tenants gets one account with two places', async (t) => {
  const [one, two] = [await tenant(platform), await tenant(platform)];
  const email = anAddress();
  const first = await invited(one.orgAdmin.token, { email });
  const second = await invited(two.orgAdmin.token, { email });
  const both = await Promise.all([
    accept(first.link, { password: PASSWORD }),
    accept(second.link, { password: PASSWORD }),
  ]);
  // Whichever came second was told that an account is there now, or entered with it.
  t.true(both.some(({ body }) => body.tokens));
  for (const { link } of [first, second]) if ((await check(link)).status === 200) await accept(link);
  const users = await platform.sql<{ places: number }>(
    `select (select count(*)::int from organization_users where user_id = users.id) as places from users where email = $1`,
    [email],
  );
  t.deepEqual(users, [{ places: 2 }]);
});

test.serial('where an organization takes no password, a new account is made without a session', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  closed.add(orgId);
  const { id, email, link } = await invited(orgAdmin.token);
  t.like((await check(link)).body, { accountExists: false, passwordRequired: false });
  t.deepEqual((await accept(link)).body as object, { success: true, loginRequired: true });
  const [user] = await platform.sql('select id, password_hash from users where email = $1', [email]);
  t.deepEqual(user, { id, password_hash: null });
  t.is((await platform.sql('select from sessions where user_id = $1', [id])).length, 0);
});

test.serial('somebody who became a member by other means keeps what they have', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const elsewhere = await tenant(platform);
  const { email, link } = await invited(orgAdmin.token, { email: elsewhere.viewer.email, roleId: ROLES.orgAdmin });
  const { id } = elsewhere.viewer;
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[orgId, id, ROLES.viewer],
  ]);
  t.is((await accept(link)).status, 200);
  t.is((await as(orgAdmin.token, 'GET', `/users/${id}`)).body.roleId, ROLES.viewer);
  t.is((await list(orgAdmin.token, `search=${email}`)).data.length, 1);
});

test.serial('an invitation of which the mail has not gone out opens nothing, and the newest mail counts', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  await as(orgAdmin.token, 'POST', '/users/resend-invite', { userId: body.id });
  const mails = await mailsTo(platform, body.email);
  t.is(mails.length, 1, 'what waits in the queue is sent once');
  t.is((await check(tokenIn(mails[0] ?? ''))).status, 200);
  const known = platform.platform.tasks.registry.jobs.get('users/send-invitation');
  await onPlatform(platform, async (ctx) => known?.job.run(ctx, { invitationId: body.id }));
  await onPlatform(platform, async (ctx) => known?.job.run(ctx, { invitationId: randomUUID() }));
  const [older = '', newer = ''] = (await mailsTo(platform, body.email)).map(tokenIn);
  t.is((await check(older)).status, 400);
  t.is((await check(newer)).status, 200);
});

test.serial('a new member’s permissions hold at once', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { link } = await invited(orgAdmin.token, { roleId: ROLES.orgAdmin });
  const { body } = await accept(link, { password: PASSWORD });
  const token = body.tokens?.accessToken ?? '';
  t.is((await invite(token)).status, 201);
  const other = await orgUser(platform, { orgId });
  await as(token, 'DELETE', `/users/${other.id}`);
  await until(async () => (await platform.call('GET', '/users/me', { token: other.token })).status === 401);
  t.pass();
});
