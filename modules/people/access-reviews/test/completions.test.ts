/** Completing a review: who loses what, and when nothing happens at all. */
import test from 'ava';
import { apiKey, orgUser, partnerUser, ROLES, sharedPlatform, tenant, until } from '#test';
import { memberIds, reviewsOf, role } from './arrange.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());
const reviews = reviewsOf(platform);

const openSessions = async (userId: string): Promise<number> => {
  const [row] = await platform.sql<{ n: number }>(
    'select count(*)::int n from sessions where user_id = $1 and revoked_at is null',
    [userId],
  );
  return row?.n ?? -1;
};
const statusOf = async (id: string) =>
  (await platform.sql<{ status: string }>('select status from access_reviews where id = $1', [id]))[0]?.status;

test('completing removes the revoked from the organization, ends their sessions there, and counts them', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const elsewhere = await tenant(platform);
  const stays = await orgUser(platform, { orgId, roleId: ROLES.viewer });
  await platform.sql(`insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)`, [
    elsewhere.orgId,
    viewer.id,
    ROLES.viewer,
  ]);
  await platform.sql(
    `insert into sessions (user_id, token_hash, scope, org_id, expires_at)
     values ($1, 'x', 'organization', $2, now() + interval '1 day')`,
    [viewer.id, elsewhere.orgId],
  );
  const { id } = await reviews.decided(orgAdmin, [viewer.id]);
  const done = await reviews.complete(orgAdmin, id);
  t.is(done.status, 200);
  const { completedAt } = done.body;
  t.deepEqual(done.body as object, { id, status: 'completed', completedAt, revokedCount: 1 });
  t.true(Date.now() - Date.parse(completedAt ?? '') < 60_000);
  t.deepEqual((await memberIds(platform, orgId)).sort(), [orgAdmin.id, stays.id].sort());
  t.true((await memberIds(platform, elsewhere.orgId)).includes(viewer.id), 'a place elsewhere stays');
  t.is(await openSessions(viewer.id), 1, 'and so does the session there');
  t.is((await platform.call('GET', '/orgs/', viewer)).status, 401);
  t.is((await platform.call('GET', '/orgs/', stays)).status, 200);
  const read = await reviews.read(orgAdmin, id);
  t.like(read.body, { status: 'completed', completedAt });
  t.is(read.body.items.length, 3);
  const [audit] = await platform.audits({ orgId, action: 'access_review.complete' });
  t.like(audit, { actor_id: orgAdmin.id, resource_id: id });
  t.deepEqual(audit?.details, { revokedCount: 1 });
  const [removed] = await platform.audits({ orgId, action: 'user.remove' });
  t.like(removed, { actor_id: orgAdmin.id, resource_id: viewer.id });
});

test("completing a partner's review removes users of the partner", async (t) => {
  const { partner, partnerId, partnerRoleId: roleId, orgAdmin } = await tenant(platform);
  const leaves = await partnerUser(platform, { partnerId, roleId, orgAccess: 'none' });
  const { id } = await reviews.decided(partner, [leaves.id]);
  t.like((await reviews.complete(partner, id)).body, { status: 'completed', revokedCount: 1 });
  const rows = await platform.sql('select user_id from partner_users where partner_id = $1', [partnerId]);
  t.deepEqual(rows, [{ user_id: partner.id }]);
  t.is((await platform.call('GET', '/orgs/', leaves)).status, 401);
  t.is((await platform.call('GET', '/orgs/', orgAdmin)).status, 200);
});

test('a review with pending items cannot be completed, and then nobody is removed', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { id, items } = await reviews.decided(orgAdmin, [viewer.id]);
  const mine = items.find(({ userId }) => userId === orgAdmin.id);
  await reviews.decide(orgAdmin, id, mine?.id ?? '', { decision: 'pending' });
  const refused = await reviews.complete(orgAdmin, id);
  t.deepEqual([refused.status, refused.body.error.message], [400, 'Cannot complete review with pending items']);
  t.is((await memberIds(platform, orgId)).length, 2);
  t.is(await statusOf(id), 'in_progress');
});

test('a completed review does not change any more', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  await platform.sql(`update users set last_login_at = '2026-01-01T00:00:00Z' where id = $1`, [viewer.id]);
  const { id, items } = await reviews.decided(orgAdmin, []);
  await platform.sql(`update users set last_login_at = '2026-02-02T00:00:00Z' where id = $1`, [viewer.id]);
  const open = (await reviews.read(orgAdmin, id)).body.items.find(({ userId }) => userId === viewer.id);
  t.is(open?.lastActiveAt, '2026-02-02T00:00:00.000Z', 'an open review tells of logins since it began');
  await reviews.complete(orgAdmin, id);
  const before = (await reviews.read(orgAdmin, id)).body;
  t.is(before.items.find(({ userId }) => userId === viewer.id)?.lastActiveAt, open?.lastActiveAt);
  await platform.sql(`update users set last_login_at = now(), name = 'Renamed' where id = $1`, [viewer.id]);
  t.deepEqual((await reviews.read(orgAdmin, id)).body, before);
  const again = await reviews.complete(orgAdmin, id);
  t.deepEqual([again.status, again.body.error.message], [400, 'Review is already completed']);
  const decided = await reviews.decide(orgAdmin, id, items[0]?.id ?? '', { decision: 'revoked' });
  t.deepEqual([decided.status, decided.body.error.message], [400, 'Cannot modify completed review']);
  t.deepEqual((await reviews.read(orgAdmin, id)).body, before);
  t.is((await memberIds(platform, orgId)).length, 2);
});

test('a review without items can be completed at once', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { id } = (await reviews.begin(orgAdmin)).body;
  await platform.sql('delete from access_review_items where review_id = $1', [id]);
  t.like((await reviews.complete(orgAdmin, id)).body, { status: 'completed', revokedCount: 0 });
});

test('the last administrator stays, and with them everybody else who was revoked', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { id } = await reviews.decided(orgAdmin, [orgAdmin.id, viewer.id]);
  const refused = await reviews.complete(orgAdmin, id);
  t.deepEqual([refused.status, refused.body.error.code], [409, 'LAST_ADMINISTRATOR']);
  t.is((await memberIds(platform, orgId)).length, 2);
  t.is(await openSessions(viewer.id), 1);
  t.is(await statusOf(id), 'in_progress');
  t.deepEqual(await platform.audits({ orgId, action: 'access_review.complete' }), []);
  t.deepEqual(await platform.audits({ orgId, action: 'user.remove' }), []);
});

test('an administrator who is revoked goes as long as another one stays, also by their own completion', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const second = await orgUser(platform, { orgId });
  const { id } = await reviews.decided(orgAdmin, [orgAdmin.id]);
  const done = await reviews.complete(orgAdmin, id);
  t.like(done.body, { status: 'completed', revokedCount: 1 });
  // A process may remember for a second who a session stands for.
  await until(async () => (await platform.call('GET', '/orgs/', orgAdmin)).status === 401, 10);
  t.true((await memberIds(platform, orgId)).includes(second.id));
  t.is((await reviews.read(second, id)).body.status, 'completed');
});

test('nobody completes a review that takes a place from those who may do more', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const second = await orgUser(platform, { orgId });
  const pairs = ['users:view', 'users:create', 'users:update'];
  const helper = await orgUser(platform, { orgId, roleId: await role(platform, { orgId }, pairs) });
  const equal = await orgUser(platform, { orgId, roleId: await role(platform, { orgId }, ['users:view']) });
  const above = await reviews.decided(helper, [second.id]);
  const refused = await reviews.complete(helper, above.id);
  t.is(refused.status, 403);
  t.regex(refused.body.error.message, /permissions that you do not hold/);
  t.true((await memberIds(platform, orgId)).includes(second.id));
  const allowed = await reviews.decided(helper, [equal.id]);
  t.like((await reviews.complete(helper, allowed.id)).body, { revokedCount: 1 });
  const key = { apiKey: await apiKey(platform, { orgId, scopes: ['users:write'], createdBy: orgAdmin.id }) };
  t.is((await reviews.complete(key, above.id)).status, 403);
  t.like((await reviews.complete(orgAdmin, above.id)).body, { revokedCount: 1 });
  t.true((await memberIds(platform, orgId)).includes(viewer.id));
});

test('who has left meanwhile is not counted, and a new role does not keep a place', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const left = await orgUser(platform, { orgId, roleId: ROLES.viewer });
  const { id } = await reviews.decided(orgAdmin, [viewer.id, left.id]);
  await platform.call('DELETE', `/users/${left.id}`, orgAdmin);
  await platform.call('POST', `/users/${viewer.id}/role`, {
    token: orgAdmin.token,
    body: { roleId: ROLES.technician },
  });
  t.like((await reviews.complete(orgAdmin, id)).body, { revokedCount: 1 });
  t.deepEqual(await memberIds(platform, orgId), [orgAdmin.id]);
  const { items } = (await reviews.read(orgAdmin, id)).body;
  t.deepEqual(items.filter(({ decision }) => decision === 'revoked').length, 2);
  t.is(items.find(({ userId }) => userId === viewer.id)?.roleName, 'Viewer');
});

test('users who joined after the review began are not touched', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { id } = await reviews.decided(orgAdmin, [viewer.id]);
  const joined = await orgUser(platform, { orgId, roleId: ROLES.viewer });
  await reviews.complete(orgAdmin, id);
  t.true((await memberIds(platform, orgId)).includes(joined.id));
  t.is((await reviews.read(orgAdmin, id)).body.items.length, 2);
});
