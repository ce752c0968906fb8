/** Whose reviews are whose: other tenants, other scopes, and callers with less than the whole tenant. */
import test from 'ava';
import { apiKey, orgUser, partnerUser, startTestPlatform, systemUser, tenant } from '#test';
import { reviewsOf, role } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const reviews = reviewsOf(platform);
type Who = { token?: string; apiKey?: string };

/** Every endpoint, on one review, as one caller. */
async function everything(who: Who, id: string, itemId: string): Promise<string[]> {
  const answers = [
    await reviews.list(who),
    await reviews.begin(who),
    await reviews.read(who, id),
    await reviews.call(who, 'GET', `/${id}/items`),
    await reviews.decide(who, id, itemId, { decision: 'approved' }),
    await reviews.complete(who, id),
  ];
  return answers.map(({ status, body }) => {
    const { error } = body as { error?: { message: string } };
    return error ? `${status} ${error.message}` : String(status);
  });
}
async function arrange() {
  const made = await tenant(platform);
  const { id } = (await reviews.begin(made.orgAdmin)).body;
  const [item] = (await reviews.read(made.orgAdmin, id)).body.items;
  const own = (await reviews.begin(made.partner)).body;
  const [ofPartner] = (await reviews.read(made.partner, own.id)).body.items;
  return { ...made, id, itemId: item?.id ?? '', ownId: own.id, ownItemId: ofPartner?.id ?? '' };
}
const NOT_FOUND = '404 Access review not found';
const STRANGER = ['200', '201', NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND];

test('system callers are refused everywhere', async (t) => {
  const { id, itemId } = await arrange();
  const refused = '403 Partner or organization context required';
  t.deepEqual(await everything(await systemUser(platform), id, itemId), Array(6).fill(refused));
});

test('partner users without all organizations are refused everywhere', async (t) => {
  const { partnerId, partnerRoleId: roleId, orgId, ownId, ownItemId } = await arrange();
  const refused = '403 Full partner organization access required';
  for (const [orgAccess, orgIds] of [
    ['selected', [orgId]],
    ['none', []],
  ] as const) {
    const user = await partnerUser(platform, { partnerId, roleId, orgAccess, orgIds: [...orgIds] });
    t.deepEqual(await everything(user, ownId, ownItemId), Array(6).fill(refused), orgAccess);
  }
});

test("another tenant's reviews are not there, and neither are the organization's for its partner or the other way round", async (t) => {
  const { id, itemId, ownId, ownItemId, partner, orgAdmin, orgId } = await arrange();
  const other = await tenant(platform);
  t.deepEqual(await everything(other.orgAdmin, id, itemId), STRANGER);
  t.deepEqual(await everything(other.partner, ownId, ownItemId), STRANGER);
  t.deepEqual(await everything(partner, id, itemId), STRANGER);
  t.deepEqual(await everything(orgAdmin, ownId, ownItemId), STRANGER);
  const key = await apiKey(platform, { orgId: other.orgId, scopes: ['*'], createdBy: other.orgAdmin.id });
  t.is((await reviews.read({ apiKey: key }, id)).status, 404);
  const names = (await reviews.list({ apiKey: key })).body.data.map((review) => review.id);
  t.false(names.includes(id));
  const rows = await platform.sql(`select status from access_reviews where id = any($1)`, [[id, ownId]]);
  t.deepEqual(rows, [{ status: 'pending' }, { status: 'pending' }]);
  const [{ n = 0 } = {}] = await platform.sql<{ n: number }>(
    `select count(*)::int n from access_review_items where decision <> 'pending' and org_id = $1`,
    [orgId],
  );
  t.is(n, 0);
});

test('row-level security hides reviews of a partner from its organizations', async (t) => {
  const { orgId, partnerId, id } = await arrange();
  const client = await platform.platform.tasks.work.database.app.connect();
  await client.query('begin');
  await client.query(`select set_config('app.org_ids', $1, true), set_config('app.owner_partner_id', $2, true)`, [
    `{${orgId}}`,
    partnerId,
  ]);
  const { rows } = await client.query('select id from access_reviews');
  const items = await client.query('select distinct review_id as id from access_review_items');
  await client.query('rollback');
  client.release();
  t.deepEqual([rows, items.rows], [[{ id }], [{ id }]]);
});

test('reading wants users:read, writing users:write, and a refused write is recorded as denied', async (t) => {
  const { viewer, orgId, id, itemId } = await arrange();
  const denied = '403 Permission denied';
  t.deepEqual(await everything(viewer, id, itemId), ['200', denied, '200', '200', denied, denied]);
  const audits = (await platform.audits({ orgId })).filter(({ result }) => result === 'denied');
  t.deepEqual(audits.map(({ action }) => action).sort(), [
    'access_review.complete',
    'access_review.create',
    'access_review.item.update',
  ]);
  const none = await orgUser(platform, { orgId, roleId: await role(platform, { orgId }, ['devices:view']) });
  t.deepEqual(await everything(none, id, itemId), Array(6).fill(denied));
  const key = { apiKey: await apiKey(platform, { orgId, scopes: ['users:read'], createdBy: viewer.id }) };
  const scope = '403 API key does not have required permissions';
  t.deepEqual(await everything(key, id, itemId), ['200', scope, '200', '200', scope, scope]);
});

test('users limited to sites read reviews, and write none, since a review decides over everybody', async (t) => {
  const { orgId, siteId, id, itemId } = await arrange();
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  const beyond = '403 An access review reaches users beyond your sites or groups';
  t.deepEqual(await everything(limited, id, itemId), ['200', beyond, '200', '200', beyond, beyond]);
});

test('a switched off module serves nothing', async (t) => {
  const without = await startTestPlatform({ MODULES_DISABLED: 'access-reviews' });
  const { orgAdmin } = await tenant(without);
  t.is((await without.call('GET', '/access-reviews', orgAdmin)).status, 404);
  await without.stop();
});
