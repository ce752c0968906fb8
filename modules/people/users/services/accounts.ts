/** Name and status belong to the account: only a caller who administers every tenant of the user may change them. */
import { type Context, changesOf, errors, keepAdministrators, type TenantRef } from '#core';
import { OwnAccount, UserShared } from '../errors.ts';
import type { Member } from '../models/member.ts';
import type { Membership } from './associations.ts';
import { mustOutrank } from './ranks.ts';
import { entryOf } from './tenants.ts';

interface AccountChanges {
  name?: string | undefined;
  status?: 'active' | 'disabled' | undefined;
}

/**
 * Disabling ends every session. Records the change in every other tenant of the user; the caller records it in the tenant
 * that is administered. Throws USER_SHARED, OWN_ACCOUNT, LAST_ADMINISTRATOR, and 403 when the user may do more than the
 * caller in any of the places. Needs the platform's role.
 * @returns the fields that changed
 */
export async function changeAccount(
  ctx: Context,
  tenant: TenantRef,
  member: Member,
  { name, status }: AccountChanges,
): Promise<string[]> {
  const { id } = member;
  if (status === 'disabled' && id === ctx.actor.id) throw OwnAccount();
  const others = await lockOtherPlaces(ctx, tenant, id);
  const { rows } = await ctx.sql<{ name: string; status: string }>('select name, status from users where id = $1', [
    id,
  ]);
  const [now] = rows;
  if (!now) throw errors.NotFound('User not found');
  const changed = [
    ...(name !== undefined && name !== now.name ? ['name'] : []),
    ...(status !== undefined && status !== now.status ? ['status'] : []),
  ];
  if (changed.length === 0) return [];
  const disables = changed.includes('status') && status === 'disabled';
  await keepAdministrators(ctx, disables ? [tenant, ...others] : [], () =>
    ctx.sql(
      'update users set name = coalesce($2, name), status = coalesce($3, status), updated_at = now() where id = $1',
      [id, name ?? null, status ?? null],
    ),
  );
  if (disables) await ctx.use('identity').endSessions(id);
  for (const { orgId, partnerId } of others) {
    ctx.audit(
      'user.update',
      entryOf({ orgId, partnerId }, member, {
        ...changesOf(now, { name: name ?? now.name, status: status ?? now.status }, changed),
      }),
    );
  }
  return changed;
}

/**
 * The places of the user besides the tenant, with the account locked until the end, so that none is added meanwhile. Throws
 * USER_SHARED when one is out of the caller's reach, 403 when the user may do more there than the caller.
 */
export async function lockOtherPlaces(ctx: Context, tenant: TenantRef, userId: string): Promise<Membership[]> {
  await ctx.sql('select from users where id = $1 for update', [userId]);
  const places = await ctx.use('identity').placesOf(userId);
  const others = places.filter(({ orgId, partnerId }) => orgId !== tenant.orgId || partnerId !== tenant.partnerId);
  const reached = await orgsReached(ctx, others);
  for (const place of others) {
    if (!administers(ctx, place, reached)) throw UserShared();
    await mustOutrank(ctx, { ...UNLIMITED, roleId: place.roleId });
  }
  return others;
}

const UNLIMITED = { siteIds: null, deviceGroupIds: null, orgAccess: null, orgIds: [] };

function administers({ scope }: Context, place: Membership, orgs: ReadonlySet<string>): boolean {
  if (scope.kind === 'system') return true;
  if (place.orgId) return orgs.has(place.orgId);
  return scope.kind === 'partner' && place.partnerId !== null && place.partnerId === scope.partnerId;
}

/** A partner's own organizations, including deleted ones, which no other tenant will ever administer. */
async function orgsReached(ctx: Context, places: readonly Membership[]): Promise<Set<string>> {
  const orgIds = places.flatMap(({ orgId }) => orgId ?? []);
  if (orgIds.length === 0 || ctx.scope.kind !== 'partner') return new Set();
  const { rows } = await ctx.sql<{ id: string }>(
    'select id from organizations where id = any($1::uuid[]) and partner_id = $2',
    [orgIds, ctx.scope.partnerId],
  );
  return new Set(rows.map((row) => row.id));
}
