/** One command for many devices, in as many statements as for one. */
import { randomUUID } from 'node:crypto';
import { type Context, defineError, errors, visibleDevices } from '#core';
import type { Lifecycle } from '../../api.ts';
import type { BulkOrder } from '../../models/bulk-command.ts';
import { mustBeSendable } from './command-types.ts';
import { mustHaveMfa } from './commands.ts';
import { blockedNow } from './guards.ts';
import { orderedBy } from './orderers.ts';

export const NoEligibleTargets = defineError('NO_ELIGIBLE_TARGETS', 422, 'None of the devices can take the command');

const HOUR_MS = 3_600_000;
const OPEN = `('pending', 'sent', 'running')`;

interface Target {
  id: string;
  orgId: string;
  siteId: string;
  hostname: string;
  lifecycle: Lifecycle;
  /** Within the caller's sites, and within the caller's groups. */
  inSite: boolean;
  inGroup: boolean;
  online: boolean;
}
type Skipped = { deviceId: string; hostname: string; code: string; commandId?: string };
type Failed = { deviceId: string; hostname: string | null; code: string; message: string };
interface Queued {
  deviceId: string;
  hostname: string;
  commandId: string;
  status: string;
}
export interface BulkAnswer {
  batchId: string;
  commands: Queued[];
  skipped: Skipped[];
  failed: Failed[];
}

/** Throws 400 for a command that may not be sent, 422 NO_ELIGIBLE_TARGETS when nothing was queued and nothing skipped. */
export async function sendBulk(ctx: Context, order: BulkOrder): Promise<BulkAnswer> {
  const { known, payload } = mustBeSendable(ctx, order.type, order.payload);
  if (known.relayed) {
    const message = `"${order.type}" is sent to one device at a time`;
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'type', message }] });
  }
  if (known.mfa) mustHaveMfa(ctx);
  const answer: BulkAnswer = { batchId: randomUUID(), commands: [], skipped: [], failed: [] };
  const targets = await lock(ctx, order);
  const fit = order.deviceIds.flatMap((id) => {
    const target = targets.get(id);
    const failure = failureOf(target);
    if (target && !failure) return [target];
    answer.failed.push({
      deviceId: id,
      hostname: failure?.shown ? (target?.hostname ?? null) : null,
      ...failure?.why,
    } as Failed);
    return [];
  });
  const eligible = await withoutSkipped(ctx, order, fit, answer);
  const deliverBy = new Date(Date.now() + known.deliverHours * HOUR_MS);
  const made = await insert(ctx, eligible, [
    ...[order.type, JSON.stringify(payload), known.targetRole ?? 'agent', order.whenOffline, deliverBy],
    ...[known.executionSeconds, known.single ? order.type : null, orderedBy(ctx).source, orderedBy(ctx).sourceId],
    ...[answer.batchId, ctx.actor.kind === 'user' ? ctx.actor.id : null],
  ]);
  const open = await openOnes(
    ctx,
    order.type,
    eligible.filter(({ id }) => !made.has(id)),
  );
  for (const { id, hostname, orgId } of eligible) {
    const commandId = made.get(id);
    const other = open.get(id);
    if (commandId) {
      answer.commands.push({ deviceId: id, hostname, commandId, status: 'pending' });
      ctx.notify('devices.commands', id);
      const details = { type: order.type, commandId, batchId: answer.batchId };
      ctx.audit('device.command.queue', {
        orgId,
        resourceType: 'device',
        resourceId: id,
        resourceName: hostname,
        details,
      });
    } else {
      // The one that was in the way may have ended meanwhile; then the caller may ask again.
      answer.skipped.push({ deviceId: id, hostname, code: 'ALREADY_PENDING', ...(other ? { commandId: other } : {}) });
    }
  }
  if (answer.commands.length === 0) {
    if (answer.skipped.length === 0) throw NoEligibleTargets({ details: answer.failed });
    ctx.unchanged();
  } else if (order.type === 'set_auto_update') await wish(ctx, [...made.keys()], payload.enabled === true);
  return answer;
}

/** All of the tenant's, against a decommission at the same time, in the order of their ids. */
async function lock(ctx: Context, { deviceIds, type }: BulkOrder): Promise<Map<string, Target>> {
  const values: unknown[] = [deviceIds];
  // A shared lock could not become the one of an update while another call holds it too.
  const strength = type === 'set_auto_update' ? 'no key update' : 'share';
  const add = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const { orgIds, siteIds, groupIds } = ctx.scope;
  const reach = visibleDevices({ orgIds, siteIds: null, groupIds: null }, add);
  const inSite = visibleDevices({ orgIds: null, siteIds, groupIds: null }, add);
  const inGroup = visibleDevices({ orgIds: null, siteIds: null, groupIds }, add);
  const { rows } = await ctx.sql<Target>(
    `select d.id, d.org_id as "orgId", d.site_id as "siteId", d.hostname, d.lifecycle, ${inSite} as "inSite",
       ${inGroup} as "inGroup", s.connectivity = 'online' as online
     from devices d join device_state s on s.device_id = d.id
     where d.id = any($1::uuid[]) and ${reach} order by d.id for ${strength} of d`,
    values,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const MESSAGES: Record<string, string> = {
  NOT_FOUND: 'Device not found',
  SITE_ACCESS_DENIED: 'Access to this site denied',
  DECOMMISSIONED: 'The device is decommissioned',
  INVALID_STATE: 'The current state does not allow this',
};

/** Null for a device that can take commands; `shown` when the caller may know its name. */
function failureOf(target: Target | undefined): { shown: boolean; why: { code: string; message: string } } | null {
  const failure = (code: string, shown: boolean) => ({ shown, why: { code, message: MESSAGES[code] ?? code } });
  if (!target?.inGroup) return failure('NOT_FOUND', false);
  if (!target.inSite) return failure('SITE_ACCESS_DENIED', false);
  if (target.lifecycle === 'decommissioned') return failure('DECOMMISSIONED', true);
  return target.lifecycle === 'active' ? null : failure('INVALID_STATE', true);
}

async function withoutSkipped(
  ctx: Context,
  order: BulkOrder,
  fit: Target[],
  { skipped }: BulkAnswer,
): Promise<Target[]> {
  const blocked = await blockedNow(
    ctx,
    fit.map(({ id }) => id),
    order.type,
  );
  return fit.filter(({ id, hostname, online }) => {
    const code = blocked.has(id) ? 'MAINTENANCE' : order.whenOffline === 'fail' && !online ? 'DEVICE_OFFLINE' : null;
    if (code) skipped.push({ deviceId: id, hostname, code });
    return code === null;
  });
}

async function insert(ctx: Context, targets: Target[], values: unknown[]): Promise<Map<string, string>> {
  if (targets.length === 0) return new Map();
  const { rows } = await ctx.sql<{ id: string; deviceId: string }>(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, payload, target_role, when_offline, deliver_by,
       execution_timeout_seconds, dedup_key, source, source_id, batch_id, created_by)
     select t.id, t.org, t.org, $3, $4::jsonb, $5, $6, $7, $8, $9, $10, $11, $12, $13
     from unnest($1::uuid[], $2::uuid[]) t (id, org)
     on conflict (device_id, dedup_key) where status in ${OPEN} do nothing
     returning id, device_id as "deviceId"`,
    [targets.map(({ id }) => id), targets.map(({ orgId }) => orgId), ...values],
  );
  return new Map(rows.map(({ id, deviceId }) => [deviceId, id]));
}

async function openOnes(ctx: Context, dedupKey: string, targets: Target[]): Promise<Map<string, string>> {
  if (targets.length === 0) return new Map();
  const { rows } = await ctx.sql<{ id: string; deviceId: string }>(
    `select id, device_id as "deviceId" from device_commands
     where device_id = any($1::uuid[]) and dedup_key = $2 and status in ${OPEN}`,
    [targets.map(({ id }) => id), dedupKey],
  );
  return new Map(rows.map(({ id, deviceId }) => [deviceId, id]));
}

const wish = (ctx: Context, ids: string[], enabled: boolean) =>
  ctx.sql(
    `update devices set auto_update_enabled = $2, auto_update_confirmed_at = null, updated_at = now()
     where id = any($1::uuid[])`,
    [ids, enabled],
  );
