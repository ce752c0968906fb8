/** Which rows a caller reaches: those in its organizations, sites and device groups, all three at once. */
import type { Scope } from '../context/index.ts';

/** What a caller is limited to; null means no limit. */
export type ReachLimits = Pick<Scope, 'orgIds' | 'siteIds' | 'groupIds'>;

/** Adds a value to the parameters of a statement and returns its placeholder with the cast: `$3::uuid[]`. */
export type AddParameter = (value: unknown, type: string) => string;

/** The columns of a table that tell where its rows belong; null where it has no such column. */
export interface ReachColumns {
  org: string | null;
  site: string | null;
  /** Holds the id of the device: `id` for devices themselves. */
  device: string | null;
  /** True where the organization is null in rows of a partner, which all of its organizations reach. */
  isPartnerOwned?: boolean;
}

/** The table of devices itself. */
const DEVICES: ReachColumns = { org: 'org_id', site: 'site_id', device: 'id' };
/** Rows about a device, with the columns org_id and device_id. A limit to sites looks up the device. */
export const ABOUT_DEVICE: ReachColumns = { org: 'org_id', site: null, device: 'device_id' };
/** Rows in a site, about no device. A caller limited to groups reaches none of them. */
export const IN_SITE: ReachColumns = { org: 'org_id', site: 'site_id', device: null };

/** SQL: the device in this column is a member of one of the groups. Rows that exclude a device are no memberships. */
// reach: part of reach() itself, which ties it to the row of the statement
export const inGroups = (deviceColumn: string, groupIds: string): string =>
  `exists (select from device_group_members gm where gm.device_id = ${deviceColumn} and gm.group_id = any(${groupIds})
    and not gm.is_excluded)`;

function inSites(alias: string, { site, device }: ReachColumns, siteIds: string): string {
  if (site) return `${alias}.${site} = any(${siteIds})`;
  // reach: part of reach() itself, which ties it to the row of the statement
  return `exists (select from devices rd where rd.id = ${alias}.${device} and rd.site_id = any(${siteIds}))`;
}

/**
 * SQL: the condition that the caller reaches a row. A statement over a table whose rows lie in a site or belong to a device
 * contains it, unless it is built by `Model.in(ctx)`, which uses the same condition.
 *
 *     const values: unknown[] = [];
 *     const add: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
 *     await ctx.sql(`select d.id from devices d where ${reach(ctx, 'd', add)}`, values);
 *
 * @param ctx the context, or only the limits to apply
 * @param alias of the table in the statement
 * @param add how the statement takes a value as a parameter
 * @param columns of the table; those of `devices` when absent
 */
export function reach(
  { scope: { orgIds, siteIds, groupIds } }: { readonly scope: ReachLimits },
  alias: string,
  add: AddParameter,
  columns: ReachColumns = DEVICES,
): string {
  const { org, site, device, isPartnerOwned } = columns;
  const parts: string[] = [];
  if (orgIds && org) {
    const within = `${alias}.${org} = any(${add(orgIds, 'uuid[]')})`;
    parts.push(isPartnerOwned ? `(${within} or ${alias}.${org} is null)` : within);
  }
  if (siteIds && (site || device)) parts.push(inSites(alias, columns, add(siteIds, 'uuid[]')));
  if (groupIds && device) parts.push(inGroups(`${alias}.${device}`, add(groupIds, 'uuid[]')));
  else if (groupIds && site) parts.push('false');
  return parts.length > 0 ? parts.join(' and ') : 'true';
}

/** SQL: for callers limited to groups, that a device which they reach lies in the site of this column; true for all others. */
export function holdsDevices(ctx: { readonly scope: ReachLimits }, siteColumn: string, add: AddParameter): string {
  if (!ctx.scope.groupIds) return 'true';
  return `exists (select from devices hd where hd.site_id = ${siteColumn} and ${reach(ctx, 'hd', add)})`;
}
