/** Where a user may log in: the platform, a partner, or an organization (spec/1-identity, User). */
import { type Context, errors } from '#core';

export interface Place {
  scope: 'system' | 'partner' | 'organization';
  partnerId: string | null;
  orgId: string | null;
  roleId: string;
}

// Places that are closed come last: a user of two partners is not locked out because the older one was suspended.
const PLACES = `
select scope, "partnerId", "orgId", "roleId" from (
  select 'system' as scope, null::uuid as "partnerId", null::uuid as "orgId", role_id as "roleId",
    0 as rank, now() as since, true as open
  from system_users where user_id = $1
  union all
  select 'partner', pu.partner_id, null, pu.role_id, 1, pu.created_at, p.status = 'active' and p.deleted_at is null
  from partner_users pu join partners p on p.id = pu.partner_id where pu.user_id = $1
  union all
  select 'organization', null, ou.org_id, ou.role_id, 2, ou.created_at,
    o.status in ('active', 'trial') and o.deleted_at is null and p.status = 'active' and p.deleted_at is null
  from organization_users ou join organizations o on o.id = ou.org_id join partners p on p.id = o.partner_id
  where ou.user_id = $1) place
order by open desc, rank, since, "partnerId", "orgId"`;

/** Every place of the user, the one a login takes by itself first. */
export async function placesOf(ctx: Context, userId: string): Promise<Place[]> {
  const { rows } = await ctx.sql<Place>(PLACES, [userId], 'identity-places');
  return rows;
}

/** The place the caller named, else the first. Throws 403 when the user has none, or not the named one. */
export function choosePlace(places: Place[], named: { orgId?: string; partnerId?: string }): Place {
  const fits = (place: Place) =>
    (!named.orgId || place.orgId === named.orgId) && (!named.partnerId || place.partnerId === named.partnerId);
  const place = places.find(fits);
  if (place) return place;
  throw errors.Forbidden(
    places.length > 0 ? 'No access to the named partner or organization' : 'Partner or organization context required',
  );
}

/** Whose audit trail an entry about this place belongs to. */
export function ownerOf(place: Pick<Place, 'orgId' | 'partnerId'> | undefined): {
  orgId: string | null;
  partnerId: string | null;
} {
  return { orgId: place?.orgId ?? null, partnerId: place?.partnerId ?? null };
}
