/** Results that agents report: a command has started or ended; the first final result counts. */
import { type Context, errors } from '#core';
import type { TargetRole } from '../models/claimed-command.ts';
import { COMMAND_FIELDS, type Command } from '../models/command.ts';
import { storableText } from '../models/storable-text.ts';
import { CANCEL_COMMAND, cancelUndelivered } from './cancellations.ts';
import { ownerOf } from './command-types.ts';
import { announceEnd } from './queue.ts';

const MAX_HALF_BYTES = 512 * 1024;
const MAX_DATA_BYTES = 256 * 1024;

// A command that returned to the queue because no start was reported counts as given out.
export const GIVEN_OUT = `(status in ('sent', 'running') or (status = 'pending' and attempt > 0))`;

/** Changes sent to running. Throws 404 for an unknown command and 409 for one that has ended; a repeat does nothing. */
export async function startCommand(ctx: Context, deviceId: string, commandId: string): Promise<void> {
  // reach: the agent's own device, which its token names
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

// reach: the agent's own device, which its token names
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

export interface CommandResult {
  /** `cancelled` counts only if cancellation was requested; otherwise it is a failure. */
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  exitCode?: number | null;
  stdout?: string | null;
  stderr?: string | null;
  durationMs?: number | null;
  startedAt?: string | Date | null;
  error?: string | null;
  result?: unknown;
}

/** What became of a reported result. */
export interface ResultOutcome {
  known: boolean;
  changed: boolean;
  /** False for a command that was never given out. */
  given: boolean;
}

/**
 * Stores the first final result; a late one replaces a timeout assumed by the server; repeats change nothing. Throws 403 when the
 * command is for another role.
 */
export async function finishCommand(
  ctx: Context,
  deviceId: string,
  commandId: string,
  role: TargetRole,
  result: CommandResult,
): Promise<ResultOutcome> {
  const startedAt = result.startedAt ? new Date(result.startedAt) : null;
  const [out, err] = [shorten(result.stdout), shorten(result.stderr)];
  const values = [
    ...[commandId, deviceId, role, result.status, integer(result.exitCode), storableText(result.error, 10_000) ?? null],
    ...[integer(result.durationMs), dataText(result.result)],
    startedAt && !Number.isNaN(startedAt.getTime()) ? startedAt : null,
    ...[out.text, err.text, out.cut || err.cut],
    ctx.contributions('device-commands.command').flatMap(({ types }) => [...types]),
  ];
  const { rows } = await ctx.sql<Command>(FINISH, values, 'device-commands-finish');
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
  announceEnd(ctx, command);
  return { known: true, changed: true, given: true };
}

async function lookUp(ctx: Context, deviceId: string, commandId: string) {
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<Pick<Command, 'status' | 'targetRole' | 'attempt'>>(
    `select status, attempt, target_role as "targetRole" from device_commands where id = $1 and device_id = $2`,
    [commandId, deviceId],
  );
  return rows[0];
}

/** Effects of completed commands beyond the command itself. */
async function applyOutcome(ctx: Context, command: Command, { status, result }: CommandResult): Promise<void> {
  if (status !== 'completed') return;
  if (command.type === 'uninstall_agent') {
    await ctx.use('devices').confirmUninstall(command.deviceId);
  }
  if (command.type === CANCEL_COMMAND) await cancelUndelivered(ctx, command, result);
  const enabled = (result as { enabled?: unknown } | null | undefined)?.enabled;
  if (command.type === 'set_auto_update' && typeof enabled === 'boolean') {
    await ctx.use('devices').confirmAutoUpdate(command.deviceId, enabled);
  }
}

/** Cuts long output to its first and last 512 KiB: the beginning shows what ran, the end shows the outcome. */
export function shorten(text: string | null | undefined): { text: string | null; cut: boolean } {
  if (typeof text !== 'string') return { text: null, cut: false };
  const plain = text.replaceAll('\0', '').toWellFormed();
  const bytes = Buffer.from(plain);
  if (bytes.length <= 2 * MAX_HALF_BYTES) return { text: plain, cut: false };
  const [head, tail] = [bytes.subarray(0, MAX_HALF_BYTES), bytes.subarray(-MAX_HALF_BYTES)];
  const left = bytes.length - 2 * MAX_HALF_BYTES;
  return { text: `${head.toString()}\n…[truncated ${left} bytes]\n${tail.toString()}`, cut: true };
}

function dataText(result: unknown): string | null {
  if (result === undefined || result === null) return null;
  const text = JSON.stringify(result, (_key, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
  const bytes = Buffer.byteLength(text);
  return bytes <= MAX_DATA_BYTES ? text : JSON.stringify({ truncated: true, bytes });
}

function integer(value: number | null | undefined): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value)));
}
