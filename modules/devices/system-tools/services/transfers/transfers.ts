/** The rows of transfers: begun by the agent, full, broken off, gone. Each statement is a piece of work of its own. */
import type { Context } from '#core';
import { MOVED_HINT } from './bell.ts';

export interface Begun {
  /** Bytes; null where nobody knows yet. */
  size: number | null;
  sha256: string | null;
}
interface Agent {
  deviceId: string;
  commandId: string;
}

/** The agent has come for its transfer; null when there is none for it, or it has come before. */
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

/** All of it has come in; false when nobody wants it any more. */
// reach: the transfer of the caller's own call, or of the agent's own device
export const fillUp = (ctx: Context, commandId: string): Promise<boolean> =>
  changed(ctx, commandId, 'update file_transfers set filled_at = now() where command_id = $1 and broken_at is null');

// reach: the transfer of the caller's own call, or of the agent's own device
export const breakOff = (ctx: Context, commandId: string): Promise<boolean> =>
  changed(ctx, commandId, 'update file_transfers set broken_at = now() where command_id = $1 and broken_at is null');

/** Whoever still fills or takes it finds nothing. What cannot be removed now is left to the job that cleans up. */
export async function drop(ctx: Context, commandId: string): Promise<void> {
  // reach: the transfer of the caller's own call, or of the agent's own device
  await changed(ctx, commandId, 'delete from file_transfers where command_id = $1').catch((err: Error) =>
    ctx.log.warn({ err }, 'a transfer is left to be cleaned up'),
  );
}

function changed(ctx: Context, commandId: string, text: string): Promise<boolean> {
  return ctx.asCaller(async (own) => {
    const { rowCount } = await own.sql(text, [commandId]);
    own.hint(MOVED_HINT, commandId);
    return rowCount === 1;
  });
}

/** What the agent has said by coming: null as long as it has not. */
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
