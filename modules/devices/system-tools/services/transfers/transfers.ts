/** The rows of transfers and their states. Each statement runs in a transaction of its own. */
import type { Context } from '#core';
import { MOVED_HINT } from './signals.ts';

export interface Begun {
  /** Bytes; null while unknown. */
  size: number | null;
  sha256: string | null;
}
interface Agent {
  deviceId: string;
  commandId: string;
}

/** Marks the transfer as begun by the agent. Null if there is none for the agent, or it has begun before. */
export function begin(
  ctx: Context,
  { deviceId, commandId }: Agent,
  direction: 'download' | 'upload',
  size: number | null,
): Promise<Begun | null> {
  return ctx.asCaller(async (own) => {
    // reach: the agent's own device, which its token names
    const { rows } = await own.sql<Begun>(
      `update file_transfers set begun_at = now(), moved_at = now(), file_size = coalesce($4, file_size)
       where command_id = $1 and device_id = $2 and direction = $3 and begun_at is null and broken_at is null
       returning file_size as size, file_sha256 as sha256`,
      [commandId, deviceId, direction, size],
    );
    own.hint(MOVED_HINT, commandId);
    return rows[0] ?? null;
  });
}

/** Marks that all bytes were written; false when the transfer was aborted or removed. */
// reach: the transfer of the caller's own call, or of the agent's own device
export const markComplete = (ctx: Context, commandId: string): Promise<boolean> =>
  changed(ctx, commandId, 'update file_transfers set filled_at = now() where command_id = $1 and broken_at is null');

// reach: the transfer of the caller's own call, or of the agent's own device
export const breakOff = (ctx: Context, commandId: string): Promise<boolean> =>
  changed(ctx, commandId, 'update file_transfers set broken_at = now() where command_id = $1 and broken_at is null');

/** Removes the transfer, which ends it at both ends. If that fails, a job removes it later. */
export async function drop(ctx: Context, commandId: string): Promise<void> {
  // reach: the transfer of the caller's own call, or of the agent's own device
  await changed(ctx, commandId, 'delete from file_transfers where command_id = $1').catch((err: Error) =>
    ctx.log.warn({ err }, 'a transfer could not be removed; the job clean-transfers will remove it'),
  );
}

function changed(ctx: Context, commandId: string, text: string): Promise<boolean> {
  return ctx.asCaller(async (own) => {
    const { rowCount } = await own.sql(text, [commandId]);
    own.hint(MOVED_HINT, commandId);
    return rowCount === 1;
  });
}

/** What the agent announced when it began; null before that. */
export async function begun(ctx: Context, commandId: string): Promise<Begun | null> {
  // reach: the transfer of the caller's own call, or of the agent's own device
  const { rows } = await ctx.asCaller((own) =>
    own.sql<Begun>(
      'select file_size as size, file_sha256 as sha256 from file_transfers where command_id = $1 and begun_at is not null',
      [commandId],
    ),
  );
  return rows[0] ?? null;
}
