/** Limits in a request, checked against the tenant and against the caller's own. */
import { type Context, errors, type TenantRef } from '#core';
import type { LimitFields, Limits } from '../models/limits.ts';

const ALL: Limits = { siteIds: null, deviceGroupIds: null, orgAccess: null, orgIds: [] };

const invalid = (path: string, message: string) => errors.ValidationFailed({ message, details: [{ path, message }] });

function refuse(path: string, message: string, ids: readonly string[]): void {
  if (ids.length > 0) throw errors.ValidationFailed({ message, details: ids.map((id) => ({ path, message: id })) });
}

/** Throws 400 with the path of a field that belongs to the other kind of tenant. */
function mustBelong(input: LimitFields, fields: (keyof LimitFields)[], message: string): void {
  for (const path of fields) if (input[path] !== undefined) throw invalid(path, message);
}

/** An empty list in a request stands for no limit, as null does. */
const allIfEmpty = (given: readonly string[] | null | undefined, current: string[] | null): string[] | null =>
  given === undefined ? current : given === null || given.length === 0 ? null : [...given];

/** Whether limits are within others; null is everything. */
const within = (ids: readonly string[] | null, own: readonly string[] | null) =>
  own === null || (ids !== null && ids.length > 0 && ids.every((id) => own.includes(id)));

/** Whether the caller reaches everything that a user with these limits reaches. */
export function reachesAsFar({ scope }: Context, { siteIds, deviceGroupIds }: Limits): boolean {
  return within(siteIds, scope.siteIds) && within(deviceGroupIds, scope.groupIds);
}

/**
 * The limits of a membership in this tenant: the request's merged over the current ones. Throws 400 with the path, 403
 * SITE_ACCESS_DENIED or TARGET_OUT_OF_SCOPE when a limited caller grants more than they reach.
 * @param current the current limits; for a new membership a partner's request must name `orgAccess`
 */
export async function checkLimits(
  ctx: Context,
  { orgId, partnerId }: TenantRef,
  input: LimitFields,
  current: Limits = ALL,
): Promise<Limits> {
  if (partnerId) return partnerLimits(ctx, partnerId, input, current);
  mustBelong(input, ['orgAccess', 'orgIds'], 'Only users of a partner are limited to organizations');
  const siteIds = allIfEmpty(input.siteIds, current.siteIds);
  const deviceGroupIds = allIfEmpty(input.deviceGroupIds, current.deviceGroupIds);
  if (!within(siteIds, ctx.scope.siteIds)) throw errors.SiteAccessDenied();
  if (!within(deviceGroupIds, ctx.scope.groupIds))
    throw errors.TargetOutOfScope({ details: [{ path: 'deviceGroupIds' }] });
  const gone = await missing(ctx, { orgId, partnerId }, { ...ALL, ...input });
  refuse('siteIds', 'Not every site belongs to the organization', gone.siteIds);
  refuse('deviceGroupIds', 'Not every device group belongs to the organization', gone.deviceGroupIds);
  return { ...ALL, siteIds, deviceGroupIds };
}

async function partnerLimits(ctx: Context, partnerId: string, input: LimitFields, current: Limits): Promise<Limits> {
  mustBelong(
    input,
    ['siteIds', 'deviceGroupIds'],
    'Only users of an organization are limited to sites and device groups',
  );
  const orgAccess = input.orgAccess ?? current.orgAccess;
  if (!orgAccess) throw invalid('orgAccess', 'orgAccess is required for users of a partner');
  if (orgAccess !== 'selected') {
    if (input.orgIds && input.orgIds.length > 0) {
      throw invalid('orgIds', `orgAccess ${orgAccess} takes no orgIds: leave them out, or set orgAccess to selected`);
    }
    return { ...ALL, orgAccess };
  }
  const orgIds = input.orgIds ?? current.orgIds;
  if (orgIds.length === 0) throw invalid('orgIds', 'orgIds is required when orgAccess is selected');
  const gone = await missing(ctx, { orgId: null, partnerId }, { ...ALL, orgIds: input.orgIds ?? [] });
  refuse('orgIds', 'Not every organization belongs to the partner', gone.orgIds);
  return { ...ALL, orgAccess, orgIds };
}

/** The ids that do not exist in the tenant. */
export async function missing(
  ctx: Context,
  { orgId, partnerId }: TenantRef,
  limits: Pick<Limits, 'siteIds' | 'deviceGroupIds' | 'orgIds'>,
): Promise<{ siteIds: string[]; deviceGroupIds: string[]; orgIds: string[] }> {
  const siteIds = limits.siteIds ?? [];
  const { orgIds } = limits;
  // reach: only tells which of the ids do not exist; checkLimits has refused those out of reach
  const { rows } = await ctx.sql<{ sites: string[]; orgs: string[] }>(
    `select array(select id from sites where org_id = $1 and id = any($2::uuid[])) as sites,
       array(select id from organizations where partner_id = $3 and id = any($4::uuid[]) and deleted_at is null) as orgs`,
    [orgId, siteIds, partnerId, orgIds],
    'users-limits',
  );
  const { sites = [], orgs = [] } = rows[0] ?? {};
  let groups = [...(limits.deviceGroupIds ?? [])];
  for (const directory of ctx.contributions('users.device-groups')) {
    if (groups.length > 0 && orgId) groups = await directory.missing(ctx, orgId, groups);
  }
  return {
    siteIds: siteIds.filter((id) => !sites.includes(id)),
    deviceGroupIds: groups,
    orgIds: orgIds.filter((id) => !orgs.includes(id)),
  };
}

/** Whether everything that was named still exists. */
export async function allThere(ctx: Context, tenant: TenantRef, limits: Limits): Promise<boolean> {
  const gone = await missing(ctx, tenant, limits);
  return gone.siteIds.length + gone.deviceGroupIds.length + gone.orgIds.length === 0;
}
