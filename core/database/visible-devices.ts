/** Which devices a caller sees: organizations, sites and device groups, all of them at once. */
import type { Scope } from '../context/index.ts';

/** SQL: the device in this column belongs to one of the groups. Rows that exclude a device are no memberships. */
export const inGroups = (deviceColumn: string, groupIds: string): string =>
  `exists (select from device_group_members gm where gm.device_id = ${deviceColumn} and gm.group_id = any(${groupIds})
    and not gm.is_excluded)`;

/**
 * SQL over the table of devices: what of it this scope reaches. Every statement that returns, counts, targets or changes
 * devices past `Model.in(ctx)` needs it.
 * @param add takes a value with its PostgreSQL type and gives the parameter's place in the statement
 * @param alias of the table of devices
 */
export function visibleDevices(
  { orgIds, siteIds, groupIds }: Pick<Scope, 'orgIds' | 'siteIds' | 'groupIds'>,
  add: (value: unknown, type: string) => string,
  alias = 'd',
): string {
  const parts: string[] = [];
  if (orgIds) parts.push(`${alias}.org_id = any(${add(orgIds, 'uuid[]')})`);
  if (siteIds) parts.push(`${alias}.site_id = any(${add(siteIds, 'uuid[]')})`);
  if (groupIds) parts.push(inGroups(`${alias}.id`, add(groupIds, 'uuid[]')));
  return parts.length > 0 ? parts.join(' and ') : 'true';
}
