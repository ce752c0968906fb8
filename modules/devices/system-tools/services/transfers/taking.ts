/** The end of a transfer at which bytes go out: each chunk is deleted as it is taken. */
import type { Context } from '#core';
import { DeviceTimeout, TransferOver } from '../../errors.ts';
import { waitMsOf } from '../calls/orders.ts';
import { bellOf, MOVED_HINT } from './bell.ts';

/** Chunks of 256 KiB taken at once. */
const AT_ONCE = 4;
/** The other process's word may be lost. */
const LOOK_MS = 500;

interface Row {
  filled: boolean;
  seq: number | null;
  data: Buffer | null;
}

/** All chunks in their order, as they come, until it is full. Throws TRANSFER_OVER when it breaks off, DEVICE_TIMEOUT. */
export async function* take(ctx: Context, commandId: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  let next = 0;
  let movedAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const ear = bellOf(ctx).listen(commandId);
    try {
      const rows = await takeSome(ctx, commandId, next);
      const [first] = rows;
      if (!first) throw TransferOver();
      for (const { seq, data } of rows) {
        if (seq === null || data === null) continue;
        if (seq !== next) throw TransferOver();
        next += 1;
        yield data;
        movedAt = performance.now();
      }
      if (first.seq !== null) continue;
      if (first.filled) return;
      if (performance.now() - movedAt > waitMsOf(ctx)) throw DeviceTimeout('Nothing came for too long');
      await ear.heard(LOOK_MS, signal);
    } finally {
      ear.stop();
    }
  }
}

/**
 * One row at least while the transfer stands; without a chunk there was none. It takes hold of the transfer before its chunks,
 * as whoever removes it does; whether it is full is what was true when the chunks were looked for.
 */
async function takeSome(ctx: Context, commandId: string, next: number): Promise<Row[]> {
  return ctx.asCaller(async (own) => {
    // reach: the transfer of the caller's own call, or of the agent's own device
    const { rows } = await own.sql<Row>(
      `with held as (
         select command_id from file_transfers t where command_id = $1 and broken_at is null
           and exists (select from file_transfer_chunks c where c.command_id = t.command_id and seq = $2)
         for no key update),
       gone as (
         delete from file_transfer_chunks c using held
         where c.command_id = held.command_id and seq >= $2 and seq < $2 + ${AT_ONCE} returning seq, data),
       moved as (
         update file_transfers set moved_at = now(), taken = taken + (select sum(octet_length(data)) from gone)
         where command_id = $1 and exists (select from gone))
       select t.filled_at is not null as filled, g.seq, g.data from file_transfers t left join gone g on true
       where t.command_id = $1 and t.broken_at is null order by g.seq`,
      [commandId, next],
    );
    if (rows.some(({ seq }) => seq !== null)) own.hint(MOVED_HINT, commandId);
    return rows;
  });
}
