/** The results of calls: stored for an hour, and polled by the request that waits. */
import type { Context, Slots } from '#core';
import { ResultErased } from '../../errors.ts';
import { POLL_MS, type StartedCall, waitMsOf } from './requests.ts';

/** Maximum size of a stored result. */
const MAX_RESULT_BYTES = 2 * 1024 * 1024;

export interface Ending {
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  error: string | null;
  /** JSON; null where the agent sent no result, or one above the maximum size. */
  result: string | null;
}
type Kept = Parameters<Slots['device-commands.command']['ended']>[1];

/** Runs in the transaction that ends the command, as the agent. After an hour the row is gone, and nothing is stored. */
export async function keepEnding(ctx: Context, command: Kept, result: unknown): Promise<void> {
  const text = result === undefined ? null : JSON.stringify(result);
  const kept = text !== null && Buffer.byteLength(text) <= MAX_RESULT_BYTES ? text : null;
  // reach: the agent's own device, which its token names
  await ctx.sql(
    'update tool_calls set ended_at = now(), status = $2, error = $3, result = $4 where command_id = $1',
    [command.id, command.status, command.error, kept],
    'system-tools-keep-ending',
  );
}

interface CallState {
  ended: boolean;
  status: Ending['status'];
  error: string | null;
  result: string | null;
  /** Milliseconds since the call began or its transfer last moved. */
  idle: number;
}

async function readCall(ctx: Context, commandId: string): Promise<CallState | undefined> {
  // reach: the caller's own call, which startCall() has just made or replayed
  const { rows } = await ctx.asCaller((own) =>
    own.sql<CallState>(
      `select c.ended_at is not null as ended, c.status, c.error, c.result,
         (extract(epoch from now() - greatest(c.created_at, t.moved_at)) * 1000)::float8 as idle
       from tool_calls c left join file_transfers t on t.command_id = c.command_id where c.command_id = $1`,
      [commandId],
      'system-tools-look',
    ),
  );
  return rows[0];
}

/**
 * Waits for the end of a call. Null after REMOTE_TOOL_WAIT_SECONDS without an answer or a move of its transfer, or when `gone`
 * is aborted. Throws RESULT_ERASED when the call is over an hour old.
 */
export async function untilEnded(
  ctx: Context,
  { commandId, first }: StartedCall,
  gone: AbortSignal,
): Promise<Ending | null> {
  const waitMs = waitMsOf(ctx);
  await first;
  while (!gone.aborted) {
    const seen = await readCall(ctx, commandId);
    if (!seen) throw ResultErased();
    if (seen.ended) return seen;
    const left = waitMs - seen.idle;
    if (left <= 0) return null;
    // Polls as well, because the call may end before the wait begins, and hints may be lost.
    await ctx.use('agents').awaitCommand(commandId, Math.min(POLL_MS, left + 1), gone);
  }
  return null;
}
