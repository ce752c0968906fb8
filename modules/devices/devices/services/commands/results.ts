/** What agents report about commands: begun, and ended; the first end that is real counts. */
import { type Context, errors } from '#core';
import type { AgentRole, CommandResult } from '../../api.ts';
import { COMMAND_FIELDS, type Command } from '../../models/command.ts';
import { clean } from '../beats/beat-rows.ts';
import { CANCEL_COMMAND, cancelUnheard } from './cancellations.ts';
import { ownerOf } from './command-types.ts';
import { tellFinished } from './queue.ts';

const KEPT_BYTES = 512 * 1024;
const MOST_DATA_BYTES = 256 * 1024;

// A command that went back to the queue because no start was heard was given out nevertheless.
export const GIVEN_OUT = `(status in ('sent', 'running') or (status = 'pending' and attempt > 0))`;

/** Throws 404 for an unknown command and 409 for one that has ended; a repeat does nothing. */
export async function startCommand(ctx: Context, deviceId: string, commandId: string): Promise<void> {
  const { rowCount } = await ctx.sql(
    `update device_commands set status = 'running', started_at = now()
     where id = $1 and device_id = $2 and status <> 'running' and ${GIVEN_OUT}`,
    [commandId, deviceId],
  );
  if (rowCount) return;
  const known = await lookUp(ctx, deviceId, commandId);
  if (!known) throw errors.NotFound('Command not found');
  if (known.status !== 'running') {
    throw errors.InvalidState({ details: [{ current: known.status, allowed: ['sent'] }] });
  }
}

const FINISH = `
with done as (
  update device_commands set finished_at = now(),
    status = case when $4 = 'cancelled' and cancel_requested_at is null then 'failed' else $4 end,
    exit_code = $5, error = $6, duration_ms = $7, data = case when type = any($13::text[]) then null else $8::jsonb end, started_at = coalesce($9::timestamptz, started_at),
    late = provisional, provisional = false, payload = '{}'
  where id = $1 and device_id = $2 and target_role = $3
    and (${GIVEN_OUT} or (status = 'timeout' and provisional and finished_at > now() - interval '24 hours'))
  returning *),
kept as (
  insert into device_command_output (command_id, org_id, stdout, stderr, truncated)
  select id, org_id, $10::text, $11::text, $12::boolean from done where coalesce($10, $11) is not null
  on conflict (command_id) do update set stdout = excluded.stdout, stderr = excluded.stderr,
    truncated = excluded.truncated)
select ${COMMAND_FIELDS} from done`;

export interface Finished {
  known: boolean;
  changed: boolean;
  /** False for a result of a command that the agent was never given. */
  given: boolean;
}

/** The first terminal result wins; a late one replaces a timeout that the server assumed; repeats change nothing. */
export async function finishCommand(
  ctx: Context,
  deviceId: string,
  commandId: string,
  role: AgentRole,
  result: CommandResult,
): Promise<Finished> {
  const startedAt = result.startedAt ? new Date(result.startedAt) : null;
  const [out, err] = [shorten(result.stdout), shorten(result.stderr)];
  const values = [
    ...[commandId, deviceId, role, result.status, integer(result.exitCode), clean(result.error, 10_000) ?? null],
    ...[integer(result.durationMs), dataText(result.result)],
    startedAt && !Number.isNaN(startedAt.getTime()) ? startedAt : null,
    ...[out.text, err.text, out.cut || err.cut],
    ctx.fillings('devices.command').flatMap(({ types }) => [...types]),
  ];
  const { rows } = await ctx.sql<Command>(FINISH, values, 'devices-finish');
  const command = rows[0];
  if (!command) {
    const known = await lookUp(ctx, deviceId, commandId);
    if (known && known.targetRole !== role) throw errors.Forbidden('The command is for another role');
    const given = known !== undefined && (known.attempt > 0 || known.status !== 'pending');
    return { known: known !== undefined, changed: false, given };
  }
  await applyOutcome(ctx, command, result);
  const { status } = result;
  await ownerOf(ctx, command.type)?.ended(ctx, { ...command, status }, result.result);
  ctx.audit('agent.command.result.submit', {
    orgId: command.orgId,
    resourceType: 'device',
    resourceId: deviceId,
    details: { commandId, type: command.type, status: command.status, exitCode: command.exitCode, late: command.late },
  });
  tellFinished(ctx, command);
  return { known: true, changed: true, given: true };
}

async function lookUp(ctx: Context, deviceId: string, commandId: string) {
  const { rows } = await ctx.sql<Pick<Command, 'status' | 'targetRole' | 'attempt'>>(
    `select status, attempt, target_role as "targetRole" from device_commands where id = $1 and device_id = $2`,
    [commandId, deviceId],
  );
  return rows[0];
}

/** Some commands change more than themselves once their agent says they are done. */
async function applyOutcome(ctx: Context, command: Command, { status, result }: CommandResult): Promise<void> {
  if (status !== 'completed') return;
  if (command.type === 'uninstall_agent') {
    await ctx.sql('update devices set uninstall_confirmed_at = now() where id = $1', [command.deviceId]);
  }
  if (command.type === CANCEL_COMMAND) await cancelUnheard(ctx, command, result);
  const enabled = (result as { enabled?: unknown } | null | undefined)?.enabled;
  if (command.type === 'set_auto_update' && typeof enabled === 'boolean') {
    await ctx.sql(
      // Whoever sets the wish anew holds the device and waits for this command; then this answer is out of date.
      `update devices set auto_update_confirmed_at = now() where id = (
         select id from devices where id = $1 and auto_update_enabled = $2 and auto_update_confirmed_at is null
         for no key update skip locked)`,
      [command.deviceId, enabled],
    );
  }
}

/** The first and the last 512 KiB, for what is longer: beginnings say what ran, ends say how it went. */
export function shorten(text: string | null | undefined): { text: string | null; cut: boolean } {
  if (typeof text !== 'string') return { text: null, cut: false };
  const plain = text.replaceAll('\0', '').toWellFormed();
  const bytes = Buffer.from(plain);
  if (bytes.length <= 2 * KEPT_BYTES) return { text: plain, cut: false };
  const [head, tail] = [bytes.subarray(0, KEPT_BYTES), bytes.subarray(-KEPT_BYTES)];
  const left = bytes.length - 2 * KEPT_BYTES;
  return { text: `${head.toString()}\n…[truncated ${left} bytes]\n${tail.toString()}`, cut: true };
}

function dataText(result: unknown): string | null {
  if (result === undefined || result === null) return null;
  const text = JSON.stringify(result, (_key, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
  const bytes = Buffer.byteLength(text);
  return bytes <= MOST_DATA_BYTES ? text : JSON.stringify({ truncated: true, bytes });
}

function integer(value: number | null | undefined): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value)));
}
