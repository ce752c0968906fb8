/** The only code that writes memberships: rows, the log of changes, the count of the group, and the event for other modules. */
import type { Context } from '#core';
import membershipChanged from '../../events/membership/changed.ts';
import type { DeviceGroup } from '../../models/device-group.ts';
import type { Reason } from '../../models/membership.ts';

export interface Cause {
  reason: Reason;
  /** Groups the log entries of one evaluation. */
  evaluationId?: string | null;
}
/** What was changed in a group; `settle` updates its count and emits the event. */
export interface Changes {
  added: string[];
  removed: string[];
}
type Group = Pick<DeviceGroup, 'id' | 'orgId' | 'name'>;

/** Devices in one event. */
const MAX_EVENT_DEVICES = 1000;

const actorOf = ({ actor }: Context): [string, string | null] => {
  const { kind, id } = actor;
  return kind === 'user' || kind === 'api_key' || kind === 'agent' ? [kind, id] : ['system', null];
};

// reach: part of statements whose callers have checked the devices
const LOG = `insert into device_group_membership_log (group_id, device_id, org_id, group_name, hostname, action, reason,
  actor_type, actor_id, evaluation_id)`;

// Devices that are being moved or removed at this moment are skipped: that change causes an evaluation of its own. The locks keep
// the others in place until the commit.
// reach: callers have checked the devices, or a filter has chosen them for the whole group
const ADD = `
with fit as (
  select d.id, d.hostname from devices d
  where d.id = any($4::uuid[]) and d.org_id = $2 and d.lifecycle <> 'decommissioned'
  order by d.id for key share skip locked),
added as (
  insert into device_group_members (group_id, device_id, org_id, added_by, added_by_user_id)
  select $1, fit.id, $2, $5, $6 from fit on conflict do nothing returning device_id),
logged as (
  ${LOG} select $1, fit.id, $2, $3, fit.hostname, 'added', $7, $8, $9, $10
  from added join fit on fit.id = added.device_id)
select device_id as id from added`;

/** The caller holds the lock of the group. Existing members and excluded devices stay as they are. @returns the new members */
export async function addMembers(
  ctx: Context,
  group: Group,
  deviceIds: readonly string[],
  { reason, evaluationId = null }: Cause,
): Promise<string[]> {
  if (deviceIds.length === 0) return [];
  const [actorType, actorId] = actorOf(ctx);
  const rule = reason === 'filter_match' || reason === 'unpinned';
  const by = rule ? 'dynamic_rule' : reason === 'enrollment' ? 'enrollment' : 'manual';
  const { rows } = await ctx.sql<{ id: string }>(ADD, [
    ...[group.id, group.orgId, group.name, deviceIds, by],
    ...[!rule && actorType === 'user' ? actorId : null, reason, actorType, actorId, evaluationId],
  ]);
  return rows.map((row) => row.id);
}

// reach: callers have checked the devices, or the whole group is removed
const REMOVE = `
with gone as (
  delete from device_group_members m where m.group_id = $1 and m.device_id = any($4::uuid[]) and not m.is_excluded
  returning m.device_id),
logged as (
  ${LOG} select $1, gone.device_id, $2, $3, coalesce(d.hostname, ''), 'removed', $5, $6, $7, $8
  from gone left join devices d on d.id = gone.device_id)
select device_id as id from gone`;

/** The caller holds the lock of the group. Also removes pins. @returns the devices that were members */
export async function removeMembers(
  ctx: Context,
  group: Group,
  deviceIds: readonly string[],
  { reason, evaluationId = null }: Cause,
): Promise<string[]> {
  if (deviceIds.length === 0) return [];
  const { rows } = await ctx.sql<{ id: string }>(REMOVE, [
    ...[group.id, group.orgId, group.name, deviceIds, reason, ...actorOf(ctx), evaluationId],
  ]);
  return rows.map((row) => row.id);
}

/** Logs a change that keeps the row, such as an exclusion: the device is no longer a member, but its row stays. */
export async function logChange(
  ctx: Context,
  group: Group,
  device: { id: string; hostname: string },
  action: 'added' | 'removed',
  reason: Reason,
): Promise<void> {
  await ctx.sql(`${LOG} values ($1, $2, $3, $4, $5, $6, $7, $8, $9, null)`, [
    ...[group.id, device.id, group.orgId, group.name, device.hostname, action, reason, ...actorOf(ctx)],
  ]);
}

/** Updates the count of the group and emits the event, after which other modules resolve targets of this group again. */
export async function settle(
  ctx: Context,
  group: Group,
  { added, removed }: Changes,
  evaluationId: string | null = null,
): Promise<void> {
  if (added.length + removed.length === 0) return;
  // reach: the group was checked by the callers
  await ctx.sql('update device_groups set device_count = greatest(0, device_count + $2) where id = $1', [
    group.id,
    added.length - removed.length,
  ]);
  for (let from = 0; from < Math.max(added.length, removed.length); from += MAX_EVENT_DEVICES) {
    const part = (ids: string[]) => ids.slice(from, from + MAX_EVENT_DEVICES);
    ctx.emit(
      membershipChanged,
      { groupId: group.id, evaluationId, added: part(added), removed: part(removed) },
      { orgId: group.orgId },
    );
  }
}
