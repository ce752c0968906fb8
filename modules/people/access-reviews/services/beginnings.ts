/** Beginning an access review: one item for each user of the tenant, as they are at that moment. */
import { type Context, errors, type TenantRef } from '#core';
import type { ReviewCreate } from '../models/access-review.ts';
import { entryOf, idOf, membersOf, writtenTenant } from './tenants.ts';

/** The reviewer's name. Throws 400 for a person who is no user of the tenant. */
async function mustBelong(ctx: Context, tenant: TenantRef, reviewerId: string | undefined): Promise<string> {
  const fault = (message: string) => errors.ValidationFailed({ message, details: [{ path: 'reviewerId', message }] });
  if (!reviewerId) throw fault('reviewerId is required with an API key');
  const { rows } = await ctx.sql<{ name: string }>(
    `select u.name from (${membersOf(tenant)}) m join users u on u.id = m.user_id where u.id = $2`,
    [idOf(tenant), reviewerId],
  );
  if (!rows[0]) throw fault('The reviewer is not a user of this partner or organization');
  return rows[0].name;
}

// One statement, so that the items are the members of one moment. The roles are kept with all that they grant then,
// inherited permissions included.
const begin = (tenant: TenantRef) => `
with recursive members as (${membersOf(tenant)}),
chain as (
  select r.id as role_id, r.id, r.parent_role_id, 0 as depth from roles r where r.id in (select role_id from members)
  union all
  select c.role_id, r.id, r.parent_role_id, c.depth + 1 from chain c join roles r on r.id = c.parent_role_id
  where c.depth < 20),
granted as (
  select c.role_id, array_agg(distinct p.resource || ':' || p.action) as permissions
  from chain c join role_permissions rp on rp.role_id = c.id join permissions p on p.id = rp.permission_id group by 1),
review as (
  insert into access_reviews (org_id, partner_id, name, description, due_date, reviewer_id, reviewer_name, roles)
  select $2::uuid, $3::uuid, $4, $5, $6::timestamptz, $7::uuid, $8, coalesce((
    select jsonb_object_agg(r.id, jsonb_build_object('name', r.name, 'permissions', coalesce(g.permissions, '{}')))
    from roles r left join granted g on g.role_id = r.id where r.id in (select role_id from members)), '{}')
  returning id, name, status),
items as (
  insert into access_review_items
    (review_id, org_id, partner_id, user_id, user_name, user_email, role_id, last_active_at)
  select review.id, $2::uuid, $3::uuid, u.id, u.name, u.email, m.role_id, u.last_login_at
  from review, members m join users u on u.id = m.user_id
  returning 1)
select id, name, status, (select count(*)::integer from items) as "itemCount" from review`;

interface Begun {
  id: string;
  name: string;
  status: string;
  itemCount: number;
}

/** Throws 400 for a reviewer of elsewhere. */
export async function createReview(ctx: Context, input: ReviewCreate): Promise<Begun> {
  const tenant = writtenTenant(ctx);
  const reviewerId = input.reviewerId ?? (ctx.actor.kind === 'user' ? (ctx.actor.id ?? undefined) : undefined);
  const reviewerName = await mustBelong(ctx, tenant, reviewerId);
  const { rows } = await ctx.sql<Begun>(begin(tenant), [
    ...[idOf(tenant), tenant.orgId, tenant.partnerId],
    ...[input.name, input.description ?? null, input.dueDate ?? null, reviewerId, reviewerName],
  ]);
  const review = rows[0];
  if (!review) throw errors.InternalError();
  ctx.audit('access_review.create', entryOf(tenant, review, { itemCount: review.itemCount }));
  return review;
}
