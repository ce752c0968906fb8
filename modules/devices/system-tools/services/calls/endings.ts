/** How calls end: what the agent said, kept for an hour, and the wait for it. */
import type { Context, Slots } from '#core';
import { ResultErased } from '../../errors.ts';
import { LOOK_MS, type Placed, waitMsOf } from './orders.ts';

/** What travels to whoever asked; a larger answer is none. */
const MOST_BYTES = 2 * 1024 * 1024;

export interface Ending {
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  error: string | null;
  /** JSON; null where the agent gave none, or too much. */
  result: string | null;
}
type Kept = Parameters<Slots['device-commands.command']['ended']>[1];

/** In the transaction that ends the command, as the agent. What comes after an hour finds nothing to be kept with. */
export async function keepEnding(ctx: Context, command: Kept, result: unknown): Promise<void> {
  const text = result === undefined ? null : JSON.stringify(result);
  const kept = text !== null && Buffer.byteLength(text) <= MOST_BYTES ? text : null;
  await ctx.sql(
    'update tool_calls set ended_at = now(), status = $2, error = $3, result = $4 where command_id = $1',
    [command.id, command.status, command.error, kept],
    'system-tools-keep-ending',
  );
}

interface Look {
  ended: boolean;
  status: Ending['status'];
  error: string | null;
  result: string | null;
  /** Milliseconds in which nothing came. */
  idle: number;
}

async function look(ctx: Context, commandId: string): Promise<Look | undefined> {
  const { rows } = await ctx.asCaller((own) =>
    own.sql<Look>(
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
 * What became of a call, or null when nothing came for as long as anybody waits, or `gone` says that nobody waits any more. A
 * transfer is waited for as long as it moves. Throws RESULT_ERASED an hour after the call.
 */
export async function untilEnded(
  ctx: Context,
  { commandId, first }: Placed,
  gone: AbortSignal,
): Promise<Ending | null> {
  const waitMs = waitMsOf(ctx);
  await first;
  while (!gone.aborted) {
    const seen = await look(ctx, commandId);
    if (!seen) throw ResultErased();
    if (seen.ended) return seen;
    const left = waitMs - seen.idle;
    if (left <= 0) return null;
    // Again for what ended between the look and the wait, and where the word of it was lost.
    await ctx.use('agents').awaitCommand(commandId, Math.min(LOOK_MS, left + 1), gone);
  }
  return null;
}
