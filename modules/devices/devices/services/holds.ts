/** Locks devices until the unit of work ends, so that their state cannot change meanwhile. */
import { type Context, errors, reach } from '#core';
import { Device, type Lifecycle } from '../models/device.ts';

/** Row lock that is held until the unit of work ends. */
export type LockStrength = 'share' | 'no key update';

/** A locked device of a tenant that the caller reaches; its sites and groups may exclude the caller. */
export interface HeldDevice {
  id: string;
  orgId: string;
  siteId: string;
  hostname: string;
  lifecycle: Lifecycle;
  /** In one of the caller's sites. */
  inSite: boolean;
  /** In one of the caller's device groups. */
  inGroup: boolean;
  online: boolean;
}

/** Like `mustExist`, and locks the device until the unit of work ends. Throws 404 for a device that the caller cannot see. */
export async function hold(ctx: Context, id: string, strength: LockStrength = 'share'): Promise<Device> {
  const query = Device.in(ctx).findById(id);
  const device = await (strength === 'share' ? query.forShare() : query.forNoKeyUpdate());
  if (!device) throw errors.NotFound('Device not found');
  return device;
}

/**
 * Locks devices of the caller's tenant in the order of their ids, and returns whether the caller's sites and groups include them.
 * Unknown ones are left out.
 */
export async function holdMany(ctx: Context, ids: readonly string[], strength: LockStrength): Promise<HeldDevice[]> {
  const values: unknown[] = [ids];
  const add = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const { orgIds, siteIds, groupIds } = ctx.scope;
  const inTenant = reach({ scope: { orgIds, siteIds: null, groupIds: null } }, 'd', add);
  const inSite = reach({ scope: { orgIds: null, siteIds, groupIds: null } }, 'd', add);
  const inGroup = reach({ scope: { orgIds: null, siteIds: null, groupIds } }, 'd', add);
  const { rows } = await ctx.sql<HeldDevice>(
    `select d.id, d.org_id as "orgId", d.site_id as "siteId", d.hostname, d.lifecycle, ${inSite} as "inSite",
       ${inGroup} as "inGroup", s.connectivity = 'online' as online
     from devices d join device_state s on s.device_id = d.id
     where d.id = any($1::uuid[]) and ${inTenant} order by d.id for ${strength} of d`,
    values,
  );
  return rows;
}
