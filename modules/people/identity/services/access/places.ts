/** Where a user may log in: the platform, a partner, or an organization. */
import { type Context, errors } from '#core';

export interface Membership {
  scope: 'system' | 'partner' | 'organization';
  partnerId: string | null;
  orgId: string | null;
  roleId: string;
}

/** SQL: the conditions under which a place can be used; partners as `p`, organizations as `o`. */
export const PARTNER_OPEN = `p.status = 'active' and p.deleted_at is null`;
export const ORG_OPEN = `o.status in ('active', 'trial') and o.deleted_at is null`;

/** SQL: the user's role in the place of a session or challenge; null when the membership no longer exists. */
export const roleAt = (place: string) => `coalesce(
  (select role_id from partner_users
   where user_id = ${place}.user_id and partner_id = ${place}.partner_id and ${place}.scope = 'partner'),
  (select role_id from organization_users where user_id = ${place}.user_id and org_id = ${place}.org_id),
  (select role_id from system_users where user_id = ${place}.user_id and ${place}.scope = 'system'))`;

// Inactive places sort last: a user of two partners is not locked out because the older one was suspended.
const placesFor = (userId: string) => `
select scope, "partnerId", "orgId", "roleId" from (
  select 'system' as scope, null::uuid as "partnerId", null::uuid as "orgId", role_id as "roleId",
    0 as rank, now() as since, true as open
  from system_users where user_id = ${userId}
  union all
  select 'partner', pu.partner_id, null, pu.role_id, 1, pu.created_at, ${PARTNER_OPEN}
  from partner_users pu join partners p on p.id = pu.partner_id where pu.user_id = ${userId}
  union all
  select 'organization', null, ou.org_id, ou.role_id, 2, ou.created_at,
    ${ORG_OPEN} and ${PARTNER_OPEN}
  from organization_users ou join organizations o on o.id = ou.org_id join partners p on p.id = o.partner_id
  where ou.user_id = ${userId}) place
order by open desc, rank, since, "partnerId", "orgId"`;

const PLACES = placesFor('$1');
/** The same as a column, in an array. */
export const placesColumn = (userId: string) =>
  `array(select to_jsonb(place) from (${placesFor(userId)}) place) as places`;

/** Every place of the user, the default one first. */
export async function placesOf(ctx: Context, userId: string): Promise<Membership[]> {
  const { rows } = await ctx.sql<Membership>(PLACES, [userId], 'identity-places');
  return rows;
}

/** The place the caller named, else the first. Throws 403 when the user has none, or not the named one. */
export function choosePlace(places: Membership[], named: { orgId?: string; partnerId?: string }): Membership {
  const fits = (place: Membership) =>
    (!named.orgId || place.orgId === named.orgId) && (!named.partnerId || place.partnerId === named.partnerId);
  const place = places.find(fits);
  if (place) return place;
  throw errors.Forbidden(
    places.length > 0 ? 'No access to the named partner or organization' : 'Partner or organization context required',
  );
}

/** The owner of the audit trail for entries about this place. */
export function ownerOf(place: Pick<Membership, 'orgId' | 'partnerId'> | undefined): {
  orgId: string | null;
  partnerId: string | null;
} {
  return { orgId: place?.orgId ?? null, partnerId: place?.partnerId ?? null };
}
