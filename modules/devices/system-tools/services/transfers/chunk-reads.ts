/** The sending end of a transfer: reads chunks and deletes each as it is read. */
import type { Context } from '#core';
import { DeviceTimeout, TransferOver } from '../../errors.ts';
import { waitMsOf } from '../calls/requests.ts';
import { MOVED_HINT, signalsOf } from './signals.ts';

/** Number of chunks (256 KiB each) in one read. */
const CHUNKS_PER_READ = 4;
/** How often the transfer is polled, in milliseconds, because hints may be lost. */
const POLL_MS = 500;

interface ChunkRow {
  filled: boolean;
  seq: number | null;
  data: Buffer | null;
}

/** All chunks in order until the transfer is complete. Throws TRANSFER_OVER when it was aborted, and DEVICE_TIMEOUT. */
export async function* readTransfer(ctx: Context, commandId: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  let next = 0;
  let movedAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const listener = signalsOf(ctx).listen(commandId);
    try {
      const rows = await readSome(ctx, commandId, next);
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
      if (performance.now() - movedAt > waitMsOf(ctx)) throw DeviceTimeout('No data was received for too long');
      await listener.wait(POLL_MS, signal);
    } finally {
      listener.stop();
    }
  }
}

/**
 * At least one row while the transfer exists; one without a chunk if there was none. Locks the transfer before its chunks, in the
 * same order as its removal. `filled` is the state before the chunks were read.
 */
async function readSome(ctx: Context, commandId: string, next: number): Promise<ChunkRow[]> {
  return ctx.asCaller(async (own) => {
    // reach: the transfer of the caller's own call, or of the agent's own device
    const { rows } = await own.sql<ChunkRow>(
      `with held as (
         select command_id from file_transfers t where command_id = $1 and broken_at is null
           and exists (select from file_transfer_chunks c where c.command_id = t.command_id and seq = $2)
         for no key update),
       gone as (
         delete from file_transfer_chunks c using held
         where c.command_id = held.command_id and seq >= $2 and seq < $2 + ${CHUNKS_PER_READ} returning seq, data),
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
