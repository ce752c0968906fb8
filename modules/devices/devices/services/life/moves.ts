/** Moves a device to another organization of its partner, in one transaction. */
import { type Context, errors, holdsPermission, mustAccessOrg } from '#core';
import { CrossPartner, SameOrg } from '../../errors.ts';
import deviceMoved from '../../events/moved.ts';
import { Device } from '../../models/device.ts';
import type { MoveRequest } from '../../models/relocation.ts';
import { cancelWaiting } from '../departing-commands.ts';
import { mustExist } from '../devices.ts';
import { checkLimits } from './quotas.ts';
import { notIn } from './transitions.ts';

const MOVABLE = ['active', 'quarantined'];

// Rows with the current state move with the device; commands, changes, addresses and metrics stay where they were written.
const CHILDREN = [
  'state',
  'hardware',
  'snapshots',
  'network_interfaces',
  'disks',
  'software',
  'services',
  'provisions',
  'reports',
];
// reach: mustExist and lock() have checked the device; the platform role alone may change its organization
const FOLLOW = `with ${CHILDREN.map(
  (name) => `${name} as (update device_${name} set org_id = $2 where device_id = $1)`,
).join(', ')}
update devices set possible_replacement_of_device_id = null where possible_replacement_of_device_id = $1`;

/**
 * Needs the platform role, which alone can change the tenant of a row; the caller's reach is checked here. Throws SAME_ORG,
 * ORG_ACCESS_DENIED, CROSS_PARTNER, INVALID_STATE, DEVICE_LIMIT_REACHED, 400 for a site of another organization.
 */
export async function moveDevice(ctx: Context, id: string, { orgId, siteId, reason }: MoveRequest): Promise<void> {
  mustChangeOrganizations(ctx);
  const before = await mustExist(ctx, id);
  mustAccessOrg(ctx, orgId);
  if (before.orgId === orgId) throw SameOrg();
  await mustShareThePartner(ctx, before.orgId, orgId);
  await ctx.use('tenancy').mustExistOrg(orgId);
  await ctx.use('tenancy').mustExistSite(siteId, orgId);
  if (!MOVABLE.includes(before.lifecycle)) throw notIn(before.lifecycle, MOVABLE);
  // Locks the organization before the device, as enrollments do. The device already counts for the partner.
  await checkLimits(ctx, orgId, 'organization');
  const device = await lock(ctx, before);
  const move = { deviceId: id, fromOrgId: before.orgId, toOrgId: orgId, fromSiteId: device.siteId, toSiteId: siteId };
  for (const { holds } of ctx.contributions('devices.follower')) {
    const current = await holds?.(ctx, id);
    if (current) throw notIn(current, MOVABLE);
  }
  const { kept, dropped } = await valuesThere(ctx, device, orgId, siteId);
  // The organization that the device leaves decides whether its labels are seen in another one.
  const { clearTagsOnMove } = await ctx.settings<{ clearTagsOnMove: boolean }>('devices', before.orgId);
  const clearedTags = clearTagsOnMove ? device.tags : [];
  const cancelled = await cancelWaiting(ctx, id);
  // reach: mustExist and lock() have checked the device; the platform role alone may change its organization
  await Device.query(ctx.trx)
    .where({ id, orgId: before.orgId })
    .patch({
      ...{ orgId, siteId, customFields: kept, possibleReplacementOfDeviceId: null, updatedAt: new Date() },
      ...(clearTagsOnMove ? { tags: [] } : {}),
    });
  await ctx.sql(FOLLOW, [id, orgId]);
  for (const { moved } of ctx.contributions('devices.follower')) await moved?.(ctx, move);
  const { hostname } = device;
  const entry = { resourceType: 'device', resourceId: id, resourceName: hostname };
  const details = { ...move, reason: reason ?? null };
  const left = { ...details, cancelledCommands: cancelled, droppedCustomFields: dropped, clearedTags };
  ctx.audit('device.move_org.source', { ...entry, orgId: before.orgId, details: left });
  ctx.audit('device.move_org.target', { ...entry, orgId, details });
  ctx.emit(deviceMoved, { hostname, direction: 'out' }, { orgId: before.orgId, siteId: device.siteId, deviceId: id });
  ctx.emit(deviceMoved, { hostname, direction: 'in' }, { orgId, siteId, deviceId: id });
  ctx.notify('devices.changed', id);
}

/** A route requires one permission; moving between organizations requires this one as well. */
function mustChangeOrganizations({ actor }: Context): void {
  const pair = 'organizations:write';
  if (actor.kind === 'api_key' && !actor.permissions.has(pair)) throw errors.ScopeRequired();
  if (actor.kind === 'user' && !holdsPermission(actor.permissions, pair, 'POST')) throw errors.Forbidden();
}

/** Only callers who reach every partner can pass organizations of two partners. */
async function mustShareThePartner(ctx: Context, from: string, to: string): Promise<void> {
  const { rows } = await ctx.sql<{ partners: number; found: number }>(
    `select count(distinct partner_id) as partners, count(*) as found from organizations
     where id in ($1, $2) and deleted_at is null`,
    [from, to],
  );
  if (rows[0]?.found !== 2) throw errors.NotFound('Organization not found');
  if (rows[0].partners !== 1) throw CrossPartner();
}

/** Locks the row for a change of its key, which includes the organization. */
async function lock(ctx: Context, before: Device): Promise<Device> {
  const device = await Device.in(ctx).findById(before.id).where({ orgId: before.orgId }).forUpdate();
  if (!device) throw errors.NotFound('Device not found');
  if (!MOVABLE.includes(device.lifecycle)) throw notIn(device.lifecycle, MOVABLE);
  return device;
}

/** The custom values that the fields of the new organization accept; the others have no field there. */
async function valuesThere(ctx: Context, device: Device, orgId: string, siteId: string) {
  const [values] = ctx.contributions('devices.values');
  const before = device.customFields;
  if (!values || Object.keys(before).length === 0) return { kept: {}, dropped: Object.keys(before) };
  // reach: the site was checked by mustExistSite; only its time zone
  const { rows } = await ctx.sql<{ timeZone: string }>('select timezone as "timeZone" from sites where id = $1', [
    siteId,
  ]);
  const place = { orgId, osType: device.osType, timeZone: rows[0]?.timeZone ?? 'UTC' };
  const kept: Record<string, unknown> = {};
  const dropped: string[] = [];
  for (const [key, value] of Object.entries(before)) {
    try {
      Object.assign(kept, await values.check(ctx, place, { [key]: value }));
    } catch (error) {
      if ((error as { code?: string }).code !== errors.ValidationFailed.code) throw error;
      dropped.push(key);
    }
  }
  return { kept, dropped };
}
