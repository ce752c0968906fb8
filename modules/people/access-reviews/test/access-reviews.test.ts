/** Access reviews through the API: beginning, reading, deciding, and what is refused. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { apiKey, orgUser, partnerUser, ROLES, sharedPlatform, tenant } from '#test';
import { reviewsOf, role } from './arrange.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());
const reviews = reviewsOf(platform);

test('a review has one pending item for each user, with role, permissions and last login', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  await platform.sql(`update users set last_login_at = '2026-03-04T05:06:07Z' where id = $1`, [viewer.id]);
  const begun = await reviews.begin(orgAdmin, {
    name: ' Spring ',
    description: 'Everybody',
    dueDate: '2027-01-31T00:00:00Z',
  });
  t.is(begun.status, 201);
  const { id } = begun.body;
  t.deepEqual(begun.body as object, { id, name: 'Spring', status: 'pending', itemCount: 2 });
  const read = await reviews.read(orgAdmin, id);
  t.is(read.status, 200);
  const { items, ...review } = read.body;
  const { createdAt, ...fields } = review as typeof review & { createdAt: string };
  t.true(Date.now() - Date.parse(createdAt) < 60_000);
  t.deepEqual(fields as object, {
    ...{ id, name: 'Spring', description: 'Everybody', status: 'pending' },
    ...{ reviewerId: orgAdmin.id, reviewerName: `User ${orgAdmin.email}` },
    ...{ dueDate: '2027-01-31T00:00:00.000Z', completedAt: null },
  });
  const mine = items.find(({ userId }) => userId === orgAdmin.id);
  const theirs = items.find(({ userId }) => userId === viewer.id);
  t.is(items.length, 2);
  t.deepEqual(mine as object, {
    ...{ id: mine?.id, userId: orgAdmin.id, userName: `User ${orgAdmin.email}`, userEmail: orgAdmin.email },
    ...{ lastActiveAt: null, roleId: ROLES.orgAdmin, roleName: 'Organization Admin', permissions: ['*:*'] },
    ...{ decision: 'pending', notes: null, reviewedAt: null },
  });
  t.like(theirs, { roleId: ROLES.viewer, roleName: 'Viewer', lastActiveAt: '2026-03-04T05:06:07.000Z' });
  t.true(theirs?.permissions.includes('users:view'));
  t.true(theirs?.permissions.every((pair) => pair.endsWith(':view')));
  const [audit] = await platform.audits({ orgId, action: 'access_review.create' });
  t.like(audit, { actor_id: orgAdmin.id, resource_type: 'access_review', resource_id: id });
  t.deepEqual(audit?.details, { itemCount: 2 });
});

test('permissions include inherited ones', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const parent = await role(platform, { orgId }, ['devices:view', 'devices:update']);
  const roleId = await role(platform, { orgId }, ['devices:view', 'scripts:view'], parent);
  const user = await orgUser(platform, { orgId, roleId });
  const bare = await orgUser(platform, { orgId, roleId: await role(platform, { orgId }, []) });
  const { body } = await reviews.read(orgAdmin, (await reviews.begin(orgAdmin)).body.id);
  const of = (id: string) => body.items.find(({ userId }) => userId === id);
  t.deepEqual(of(user.id)?.permissions, ['devices:update', 'devices:view', 'scripts:view']);
  t.deepEqual(of(bare.id)?.permissions, []);
});

test('people who are only invited are not in a review', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const invited = await platform.call('POST', '/users/invite', {
    token: orgAdmin.token,
    body: { email: `${randomUUID()}@example.com`, name: 'Later', roleId: ROLES.viewer },
  });
  t.is(invited.status, 201);
  t.is((await reviews.begin(orgAdmin)).body.itemCount, 2);
});

test("a partner's review covers the users of the partner and none of its organizations", async (t) => {
  const { partner, partnerId, partnerRoleId: roleId, orgAdmin } = await tenant(platform);
  const few = await partnerUser(platform, { partnerId, roleId, orgAccess: 'selected' });
  const begun = await reviews.begin(partner);
  t.is(begun.body.itemCount, 2);
  const { body } = await reviews.read(partner, begun.body.id);
  t.deepEqual(body.items.map(({ userId }) => userId).sort(), [partner.id, few.id].sort());
  t.true(body.items.every(({ roleName }) => roleName === 'Partner Admin'));
  await reviews.begin(orgAdmin, { name: 'Of the organization' });
  const list = await reviews.list(partner);
  t.deepEqual(
    list.body.data.map(({ name }) => name),
    ['Quarterly'],
  );
  const [audit] = (await platform.audits({ action: 'access_review.create' })).filter(
    (row) => row.resource_id === begun.body.id,
  );
  t.is(audit?.org_id, null);
});

test('reviews are listed oldest first, all at once or in pages', async (t) => {
  const { orgAdmin } = await tenant(platform);
  for (const name of ['One', 'Two', 'Three']) await reviews.begin(orgAdmin, { name });
  const all = await reviews.list(orgAdmin);
  const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name);
  t.deepEqual(names(all.body), ['One', 'Two', 'Three']);
  t.deepEqual(Object.keys(all.body.data[0] ?? {}).sort(), [
    ...['completedAt', 'createdAt', 'description', 'dueDate', 'id', 'name', 'reviewerId', 'reviewerName', 'status'],
  ]);
  const second = await reviews.call<{ data: { name: string }[]; pagination: object }>(
    orgAdmin,
    'GET',
    '?page=2&limit=2',
  );
  t.deepEqual(names(second.body), ['Three']);
  t.deepEqual(second.body.pagination, { page: 2, limit: 2, total: 3 });
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const got: { body: { data: { name: string }[]; pagination: { cursor: string | null } } } = await reviews.call(
      orgAdmin,
      'GET',
      `?limit=1&cursor=${cursor}`,
    );
    seen.push(...names(got.body));
    cursor = got.body.pagination.cursor;
  }
  t.deepEqual(seen, ['One', 'Two', 'Three']);
});

test('decisions put the review in progress, can be changed, and are audited', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { id } = (await reviews.begin(orgAdmin)).body;
  const item = (await reviews.read(orgAdmin, id)).body.items.find(({ userId }) => userId === viewer.id);
  const itemId = item?.id ?? '';
  const revoked = await reviews.decide(orgAdmin, id, itemId, { decision: 'revoked', notes: 'left in May' });
  t.is(revoked.status, 200);
  t.deepEqual(Object.keys(revoked.body).sort(), ['decision', 'id', 'notes', 'reviewedAt']);
  t.like(revoked.body, { id: itemId, decision: 'revoked', notes: 'left in May' });
  t.true(Date.now() - Date.parse(revoked.body.reviewedAt ?? '') < 60_000);
  t.is((await reviews.read(orgAdmin, id)).body.status, 'in_progress');
  t.like((await reviews.decide(orgAdmin, id, itemId, { decision: 'approved' })).body, { notes: 'left in May' });
  t.like((await reviews.decide(orgAdmin, id, itemId, { decision: 'pending', notes: null })).body, {
    decision: 'pending',
    notes: null,
  });
  const read = await reviews.read(orgAdmin, id);
  t.is(read.body.status, 'in_progress');
  const [row] = await platform.sql('select reviewed_by from access_review_items where id = $1', [itemId]);
  t.is(row?.reviewed_by, orgAdmin.id);
  const audits = await platform.audits({ orgId, action: 'access_review.item.update' });
  t.deepEqual(
    audits.map(({ details, resource_id }) => [details, resource_id]),
    ['revoked', 'approved', 'pending'].map((decision) => [{ reviewId: id, decision }, itemId]),
  );
});

test('items are listed in pages, also those of one decision', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  await orgUser(platform, { orgId, roleId: ROLES.viewer });
  const { id } = (await reviews.begin(orgAdmin)).body;
  const { items } = (await reviews.read(orgAdmin, id)).body;
  const names = items.map(({ userName }) => userName);
  t.deepEqual(names, [...names].sort());
  const mine = items.find(({ userId }) => userId === viewer.id);
  await reviews.decide(orgAdmin, id, mine?.id ?? '', { decision: 'revoked' });
  const list = async (query: string) =>
    (
      await reviews.call<{ data: { id: string }[]; pagination: { cursor: string | null; total: number } }>(
        orgAdmin,
        'GET',
        `/${id}/items?${query}`,
      )
    ).body;
  const revoked = await list('decision=revoked');
  t.deepEqual([revoked.data.map((item) => item.id), revoked.pagination.total], [[mine?.id ?? ''], 1]);
  const first = await list('limit=2&cursor=');
  const rest = await list(`limit=2&cursor=${first.pagination.cursor}`);
  t.deepEqual(
    [...first.data, ...rest.data].map((item) => item.id),
    items.map((item) => item.id),
  );
  t.is(rest.pagination.cursor, null);
});

test('the reviewer is the caller or another user of the same tenant, nobody else', async (t) => {
  const { orgAdmin, viewer, partner, orgId } = await tenant(platform);
  const other = await tenant(platform);
  const chosen = await reviews.begin(orgAdmin, { reviewerId: viewer.id });
  t.is(chosen.status, 201);
  const { body } = await reviews.read(orgAdmin, chosen.body.id);
  t.deepEqual([body.reviewerId, body.reviewerName], [viewer.id, `User ${viewer.email}`]);
  for (const reviewerId of [other.orgAdmin.id, partner.id, randomUUID()]) {
    const refused = await reviews.begin(orgAdmin, { reviewerId });
    t.is(refused.status, 400);
    t.is(refused.body.error.details[0]?.path, 'reviewerId');
  }
  t.is((await reviews.begin(partner, { reviewerId: orgAdmin.id })).status, 400);
  const key = { apiKey: await apiKey(platform, { orgId, scopes: ['users:write'], createdBy: orgAdmin.id }) };
  t.is((await reviews.begin(key)).body.error.message, 'reviewerId is required with an API key');
  t.is((await reviews.begin(key, { reviewerId: viewer.id })).status, 201);
});

test('what a review says of its reviewer and users stays readable when they are gone', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { id } = (await reviews.begin(orgAdmin, { reviewerId: viewer.id })).body;
  await platform.sql('delete from organization_users where org_id = $1 and user_id = $2', [orgId, viewer.id]);
  const { body } = await reviews.read(orgAdmin, id);
  t.is(body.reviewerName, `User ${viewer.email}`);
  t.like(
    body.items.find(({ userId }) => userId === viewer.id),
    { userEmail: viewer.email, roleName: 'Viewer' },
  );
});

test('a role that is changed after the review began is shown as it was reviewed', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const roleId = await role(platform, { orgId }, ['devices:view']);
  await platform.sql('update organization_users set role_id = $1 where user_id = $2', [roleId, viewer.id]);
  const { id } = (await reviews.begin(orgAdmin)).body;
  const seen = async () => (await reviews.read(orgAdmin, id)).body.items.find(({ userId }) => userId === viewer.id);
  const before = await seen();
  await platform.sql(`update roles set name = 'Renamed' where id = $1`, [roleId]);
  await platform.sql('delete from role_permissions where role_id = $1', [roleId]);
  await platform.sql('update organization_users set role_id = $1 where user_id = $2', [ROLES.technician, viewer.id]);
  t.deepEqual(await seen(), before);
  t.deepEqual(before?.permissions, ['devices:view']);
});

test('bad input names its path', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const bad = await reviews.begin(orgAdmin, { name: ' ', dueDate: 'soon', reviewerId: 'me', orgId: randomUUID() });
  t.is(bad.status, 400);
  t.deepEqual(bad.body.error.details.map(({ path }) => path).sort(), ['dueDate', 'name', 'orgId', 'reviewerId']);
  t.is((await reviews.begin(orgAdmin, { name: 'x'.repeat(256) })).status, 400);
  t.is((await reviews.begin(orgAdmin, { name: 'x'.repeat(255) })).status, 201);
  const { id } = (await reviews.begin(orgAdmin)).body;
  const [item] = (await reviews.read(orgAdmin, id)).body.items;
  for (const body of [{}, { decision: 'maybe' }, { notes: 'x' }, { decision: 'approved', reviewedBy: randomUUID() }]) {
    t.is((await reviews.decide(orgAdmin, id, item?.id ?? '', body)).status, 400, JSON.stringify(body));
  }
  t.is((await reviews.read(orgAdmin, id)).body.status, 'pending');
});

test('a review or an item that is not there is 404', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { id } = (await reviews.begin(orgAdmin)).body;
  const other = (await reviews.begin(orgAdmin)).body;
  const [foreign] = (await reviews.read(orgAdmin, other.id)).body.items;
  const none = randomUUID();
  const decision = { decision: 'approved' };
  for (const answer of [
    await reviews.read(orgAdmin, none),
    await reviews.complete(orgAdmin, none),
    await reviews.decide(orgAdmin, none, none, decision),
    await reviews.call(orgAdmin, 'GET', `/${none}/items`),
  ]) {
    t.deepEqual(
      [answer.status, (answer.body as { error: { message: string } }).error.message],
      [404, 'Access review not found'],
    );
  }
  t.is((await reviews.decide(orgAdmin, id, none, decision)).status, 404);
  t.is((await reviews.decide(orgAdmin, id, foreign?.id ?? '', decision)).status, 404, "another review's item");
  t.is((await reviews.read(orgAdmin, other.id)).body.items[0]?.decision, 'pending');
});
