/** Sends one command to many devices, with as many statements as for one. */
import { randomUUID } from 'node:crypto';
import { type Context, errors, reply } from '#core';
import { NoEligibleTargets } from '../../errors.ts';
import type { BulkCommand } from '../../models/bulk-command.ts';
import { type CommandType, mustBeSendable } from '../command-types.ts';
import { mustHaveMfa } from '../commands.ts';
import { blockedNow } from '../guards.ts';
import { offForCommand } from '../module-commands.ts';
import { powerBlocks } from '../power.ts';
import { sentBy } from '../senders.ts';
import { type ApprovedBulk, askForBulk, needsApproval } from './approvals.ts';

const HOUR_MS = 3_600_000;
const OPEN = `('pending', 'sent', 'running')`;

/** A locked device of the caller's tenant. */
interface Target {
  id: string;
  orgId: string;
  hostname: string;
  lifecycle: string;
  /** In one of the caller's sites. */
  inSite: boolean;
  /** In one of the caller's device groups. */
  inGroup: boolean;
  online: boolean;
}
type Skipped = { deviceId: string; hostname: string; code: string; commandId?: string };
type Failed = { deviceId: string; hostname: string | null; code: string; message: string };
interface Sent {
  deviceId: string;
  hostname: string;
  commandId: string;
  status: string;
}
export interface BulkAnswer {
  batchId: string;
  commands: Sent[];
  skipped: Skipped[];
  failed: Failed[];
}

/**
 * Where the organization wants a second person's approval of so many devices, the answer is 202 and nothing is queued. Throws 400 for a
 * command that cannot be sent, 422 NO_ELIGIBLE_TARGETS when no command was queued or skipped, 409 ONE_ORGANIZATION_AT_A_TIME.
 */
export async function sendBulk(ctx: Context, command: BulkCommand) {
  const sendable = mustBeForMany(ctx, command);
  if (sendable.known.mfa) mustHaveMfa(ctx);
  const { fit, answer } = await targetsOf(ctx, command);
  const { payload } = sendable;
  if (!(await needsApproval(ctx, command, fit)))
    return queueBulk(ctx, { ...command, payload }, sendable, { fit, answer });
  return reply({ ...(await askForBulk(ctx, { ...command, payload }, fit)), failed: answer.failed }, { status: 202 });
}

/** What a second person has approved, in the name of the asker. Devices that cannot take it any more are skipped, each with the reason. */
export async function sendApproved(ctx: Context, command: BulkCommand, approved: ApprovedBulk) {
  const sendable = mustBeForMany(ctx, command);
  const { batchId, commands, skipped, failed } = await queueBulk(
    ctx,
    { ...command, payload: sendable.payload },
    sendable,
    await targetsOf(ctx, command),
    approved,
  );
  const left = [...skipped, ...failed].map(({ deviceId, hostname, code }) => ({ deviceId, hostname, code }));
  return { batchId, queued: commands.length, skipped: left };
}

interface Sendable {
  known: CommandType;
  payload: Record<string, unknown>;
}

function mustBeForMany(ctx: Context, command: BulkCommand): Sendable {
  const { known, payload } = mustBeSendable(ctx, command.type, command.payload);
  // What is secret is sealed for one command.
  if (known.relayed || known.secrets) {
    const message = `"${command.type}" is sent to one device at a time`;
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'type', message }] });
  }
  return { known, payload };
}

interface Targets {
  /** Locked devices that accept commands. */
  fit: Target[];
  /** With those that do not. */
  answer: BulkAnswer;
}

async function targetsOf(ctx: Context, command: BulkCommand): Promise<Targets> {
  const answer: BulkAnswer = { batchId: randomUUID(), commands: [], skipped: [], failed: [] };
  const targets = await lock(ctx, command);
  const fit = command.deviceIds.flatMap((id) => {
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
  return { fit, answer };
}

async function queueBulk(
  ctx: Context,
  command: BulkCommand & { payload: Record<string, unknown> },
  { known, payload }: Sendable,
  { fit, answer }: Targets,
  approved?: ApprovedBulk,
): Promise<BulkAnswer> {
  const eligible = await withoutSkipped(ctx, command, fit, answer);
  const deliverBy = new Date(Date.now() + known.deliverHours * HOUR_MS);
  const made = await insert(ctx, eligible, [
    ...[command.type, JSON.stringify(payload), known.targetRole ?? 'agent', command.whenOffline, deliverBy],
    ...[known.executionSeconds, known.single ? command.type : null, sentBy(ctx).source, sentBy(ctx).sourceId],
    ...[answer.batchId, ctx.actor.kind === 'user' ? ctx.actor.id : null],
  ]);
  const open = await openOnes(
    ctx,
    command.type,
    eligible.filter(({ id }) => !made.has(id)),
  );
  for (const { id, hostname, orgId } of eligible) {
    const commandId = made.get(id);
    const other = open.get(id);
    if (commandId) {
      answer.commands.push({ deviceId: id, hostname, commandId, status: 'pending' });
      ctx.notify('device-commands.waiting', id);
      const details = { type: command.type, commandId, batchId: answer.batchId, ...approved };
      ctx.audit('device.command.queue', {
        orgId,
        resourceType: 'device',
        resourceId: id,
        resourceName: hostname,
        details,
      });
    } else {
      // The open command may have ended meanwhile; then the caller can repeat the request.
      answer.skipped.push({ deviceId: id, hostname, code: 'ALREADY_PENDING', ...(other ? { commandId: other } : {}) });
    }
  }
  if (answer.commands.length === 0) {
    if (answer.skipped.length === 0) throw NoEligibleTargets({ details: answer.failed });
    ctx.unchanged();
  } else if (command.type === 'set_auto_update') {
    await ctx.use('devices').wishAutoUpdate([...made.keys()], payload.enabled === true);
  }
  return answer;
}

/** Locks the devices against a concurrent decommission. */
async function lock(ctx: Context, { deviceIds, type }: BulkCommand): Promise<Map<string, Target>> {
  // Two calls that both hold a shared lock could not change the device.
  const held = await ctx.use('devices').holdMany(deviceIds, type === 'set_auto_update' ? 'no key update' : 'share');
  return new Map(held.map((device) => [device.id, device]));
}

const MESSAGES: Record<string, string> = {
  NOT_FOUND: 'Device not found',
  SITE_ACCESS_DENIED: 'Access to this site denied',
  DECOMMISSIONED: 'The device is decommissioned',
  INVALID_STATE: 'The current state does not allow this',
};

/** Null for a device that accepts commands; `shown` when the caller may see its name. */
function failureOf(target: Target | undefined): { shown: boolean; why: { code: string; message: string } } | null {
  const failure = (code: string, shown: boolean) => ({ shown, why: { code, message: MESSAGES[code] ?? code } });
  if (!target?.inGroup) return failure('NOT_FOUND', false);
  if (!target.inSite) return failure('SITE_ACCESS_DENIED', false);
  if (target.lifecycle === 'decommissioned') return failure('DECOMMISSIONED', true);
  return target.lifecycle === 'active' ? null : failure('INVALID_STATE', true);
}

async function withoutSkipped(
  ctx: Context,
  command: BulkCommand,
  fit: Target[],
  { skipped }: BulkAnswer,
): Promise<Target[]> {
  const blocked = await blockedNow(
    ctx,
    fit.map(({ id }) => id),
    command.type,
  );
  const refused = await powerBlocks(ctx, fit, command.type);
  const off = offForCommand(
    ctx,
    fit.map(({ orgId }) => orgId),
    command.type,
  );
  return fit.filter(({ id, orgId, hostname, online }) => {
    const offline = command.whenOffline === 'fail' && !online;
    const reasons = [
      off.has(orgId) && 'COMMAND_DISABLED',
      blocked.has(id) && 'MAINTENANCE',
      refused.has(id) && 'POWER_COMMANDS_OFF',
      offline && 'DEVICE_OFFLINE',
    ];
    const code = reasons.find((one) => one !== false) ?? null;
    if (code) skipped.push({ deviceId: id, hostname, code });
    return code === null;
  });
}

async function insert(ctx: Context, targets: Target[], values: unknown[]): Promise<Map<string, string>> {
  if (targets.length === 0) return new Map();
  // reach: only devices that failureOf() found within sites and groups get here
  const { rows } = await ctx.sql<{ id: string; deviceId: string }>(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, payload, target_role, when_offline, deliver_by,
       execution_timeout_seconds, dedup_key, source, source_id, batch_id, created_by, causation)
     select t.id, t.org, t.org, $3, $4::jsonb, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb
     from unnest($1::uuid[], $2::uuid[]) t (id, org)
     on conflict (device_id, dedup_key) where status in ${OPEN} do nothing
     returning id, device_id as "deviceId"`,
    [targets.map(({ id }) => id), targets.map(({ orgId }) => orgId), ...values, JSON.stringify(ctx.causation)],
  );
  return new Map(rows.map(({ id, deviceId }) => [deviceId, id]));
}

async function openOnes(ctx: Context, dedupKey: string, targets: Target[]): Promise<Map<string, string>> {
  if (targets.length === 0) return new Map();
  // reach: only devices that failureOf() found within sites and groups get here
  const { rows } = await ctx.sql<{ id: string; deviceId: string }>(
    `select id, device_id as "deviceId" from device_commands
     where device_id = any($1::uuid[]) and dedup_key = $2 and status in ${OPEN}`,
    [targets.map(({ id }) => id), dedupKey],
  );
  return new Map(rows.map(({ id, deviceId }) => [deviceId, id]));
}
