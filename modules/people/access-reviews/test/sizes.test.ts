/** A review of thousands of users. */
import test from 'ava';
import { ROLES, sharedPlatform, tenant } from '#test';
import { memberIds, reviewsOf } from './arrange.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());
const reviews = reviewsOf(platform);

test('five thousand users are reviewed, read inline and in pages, and a hundred removed', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await platform.sql(
    `with made as (insert into users (email, name)
       select 'many-' || n || '@example.com', 'Many ' || n from generate_series(1, 5000) n returning id)
     insert into organization_users (org_id, user_id, role_id) select $1, id, $2 from made`,
    [orgId, ROLES.technician],
  );
  const began = performance.now();
  const { body } = await reviews.begin(orgAdmin);
  t.log(`begun in ${Math.round(performance.now() - began)} ms`);
  t.is(body.itemCount, 5002);
  const read = performance.now();
  const review = (await reviews.read(orgAdmin, body.id)).body;
  t.log(`read in ${Math.round(performance.now() - read)} ms`);
  t.is(review.items.length, 5002);
  t.is(new Set(review.items.map(({ userId }) => userId)).size, 5002);
  const page = await reviews.call<{ data: object[]; pagination: { total: number } }>(
    orgAdmin,
    'GET',
    `/${body.id}/items?page=5&limit=1000`,
  );
  t.is(page.body.pagination.total, 5002);
  t.deepEqual(page.body.data, review.items.slice(4000, 5000) as object[]);
  await platform.sql(
    `update access_review_items set reviewed_at = now(),
       decision = case when user_email like 'many-1__@%' then 'revoked' else 'approved' end
     where review_id = $1`,
    [body.id],
  );
  const completing = performance.now();
  t.is((await reviews.complete(orgAdmin, body.id)).body.revokedCount, 100);
  t.log(`100 removed in ${Math.round(performance.now() - completing)} ms`);
  t.is((await memberIds(platform, orgId)).length, 4902);
});
