/** Takes devices off the queue of changes and evaluates them in the groups whose filters use what changed. */
import type { Context } from '#core';
import { DeviceGroup } from '../../models/device-group.ts';
import { dropOutside } from '../members/static-members.ts';
import { evaluateInBackground } from './evaluations.ts';
import { takeTurn, tryDrain } from './turns.ts';

/** Rows that one job takes; the next job takes more. */
const MAX_ROWS = 1000;
/** Fields that matter to every dynamic group, because they decide whether a device can be a member. */
const BASIC = ['lifecycle', 'siteId'];

// reach: job of the whole organization
const TAKE = `
delete from device_group_dirty where id in (
  select id from device_group_dirty where org_id = $1 order by id limit ${MAX_ROWS} for update skip locked)
returning device_id as "deviceId", fields`;

const drainSoon = (ctx: Context, orgId: string, inMs: number) =>
  ctx.addJob(
    'device-groups/drain-dirty',
    {},
    { orgId, key: `device-groups-drain:${orgId}`, runAt: new Date(Date.now() + inMs) },
  );

/**
 * Processes the queue of one organization, in one transaction: the rows are removed if and only if the groups are updated. Locks
 * groups in the order of their ids (turns.ts).
 */
export async function drain(ctx: Context, orgId: string): Promise<void> {
  if (!(await tryDrain(ctx, orgId))) {
    // The job that holds the lock may have read the queue before the rows of this job were there.
    drainSoon(ctx, orgId, 250);
    return;
  }
  const { rows } = await ctx.sql<{ deviceId: string; fields: string[] }>(TAKE, [orgId]);
  if (rows.length === 0) return;
  if (rows.length === MAX_ROWS) drainSoon(ctx, orgId, 0);
  const changed = new Map<string, Set<string>>();
  for (const { deviceId, fields } of rows) {
    changed.set(deviceId, new Set([...(changed.get(deviceId) ?? []), ...fields]));
  }
  const groups = await DeviceGroup.in(ctx)
    .where({ orgId })
    .whereRaw(`(type = 'dynamic' or site_id is not null)`)
    .orderBy('id');
  for (const group of groups) {
    const asks = group.type === 'dynamic' ? [...group.filterFields, ...BASIC] : ['siteId'];
    const deviceIds = [...changed].filter(([, fields]) => asks.some((field) => fields.has(field))).map(([id]) => id);
    if (deviceIds.length === 0) continue;
    if (group.type === 'dynamic') await evaluateInBackground(ctx, group.id, { deviceIds });
    else {
      await takeTurn(ctx, group.id);
      await dropOutside(ctx, group, deviceIds);
    }
  }
}

/** Finds queues with rows that are older than a job takes, and adds a job for each. Platform role. */
export async function sweep(ctx: Context): Promise<void> {
  // reach: platform role: finds organizations, shows no device
  const { rows } = await ctx.sql<{ orgId: string }>(
    `select distinct w.org_id as "orgId" from device_group_dirty w join organizations o on o.id = w.org_id
     join partners p on p.id = o.partner_id
     where w.at < now() - interval '5 seconds' and w.org_id <> all($1::uuid[]) and o.deleted_at is null and p.status = 'active' and p.deleted_at is null`,
    [ctx.services.modules.orgsWithout('device-groups')],
  );
  for (const { orgId } of rows) drainSoon(ctx, orgId, 0);
}
