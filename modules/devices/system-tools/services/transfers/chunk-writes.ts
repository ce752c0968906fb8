/** The receiving end of a transfer: writes chunks, and reads its source no faster than the other end reads the chunks. */
import { createHash } from 'node:crypto';
import type { Context } from '#core';
import { DeviceTimeout, TransferOver } from '../../errors.ts';
import { waitMsOf } from '../calls/requests.ts';
import { MOVED_HINT, signalsOf } from './signals.ts';
import { breakOff, markComplete } from './transfers.ts';

const CHUNK_BYTES = 256 * 1024;
/** Bytes in one statement, and bytes that may wait for the other end. */
const WRITE_BYTES = 4 * CHUNK_BYTES;
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** How often the bytes of a slow sender are written, in milliseconds. */
const FLUSH_MS = 1_000;
/** How often the transfer is polled, in milliseconds, because hints may be lost. */
const POLL_MS = 500;

export interface Written {
  bytes: number;
  sha256: string;
}
interface Level {
  written: number;
  taken: number;
}

/**
 * Writes all of `source` and marks the transfer as complete. Any error aborts the transfer at both ends. Throws TRANSFER_OVER
 * when the other end has aborted it, DEVICE_TIMEOUT when nothing moves, and the errors of the source.
 * @param expected the announced number of bytes; any other number aborts the transfer
 */
export async function writeTransfer(
  ctx: Context,
  commandId: string,
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
  expected: number | null = null,
): Promise<Written> {
  try {
    const written = await writeAll(ctx, commandId, source, signal);
    if (expected !== null && written.bytes !== expected)
      throw TransferOver('The number of bytes differs from the announced one');
    if (!(await markComplete(ctx, commandId))) throw TransferOver();
    return written;
  } catch (error) {
    await breakOff(ctx, commandId);
    throw error;
  }
}

async function writeAll(
  ctx: Context,
  commandId: string,
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Written> {
  const hash = createHash('sha256');
  const waitMs = waitMsOf(ctx);
  const reading = source[Symbol.asyncIterator]();
  let [bytes, seq] = [0, 0];
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let flushedAt = performance.now();
  const flush = async () => {
    const all = waiting.length === 1 ? (waiting[0] ?? Buffer.alloc(0)) : Buffer.concat(waiting);
    [waiting, waitingBytes] = [[], 0];
    for (let from = 0; from < all.length; from += WRITE_BYTES) {
      const chunks = split(all.subarray(from, from + WRITE_BYTES));
      await untilRead(ctx, commandId, await write(ctx, commandId, seq, chunks), signal);
      seq += chunks.length;
    }
    flushedAt = performance.now();
  };
  try {
    for (;;) {
      const { done, value } = await within(reading.next(), waitMs, signal);
      if (done) break;
      hash.update(value);
      bytes += value.length;
      waiting.push(value);
      waitingBytes += value.length;
      if (waitingBytes >= WRITE_BYTES || performance.now() - flushedAt > FLUSH_MS) await flush();
    }
    await flush();
  } finally {
    // A read may still be in progress; its result is not needed.
    void reading.return?.()?.catch(() => undefined);
  }
  return { bytes, sha256: hash.digest('hex') };
}

function split(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) chunks.push(bytes.subarray(from, from + CHUNK_BYTES));
  return chunks;
}

function write(ctx: Context, commandId: string, seq: number, chunks: readonly Buffer[]): Promise<Level> {
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  const rows = chunks.map((_, index) => `($3::integer + ${index}, $${index + 4}::bytea)`).join(', ');
  return ctx.asCaller(async (own) => {
    // reach: the transfer of the caller's own call, or of the agent's own device
    const { rows: levels } = await own.sql<Level>(
      `with here as (
         update file_transfers set written = written + $2, moved_at = now()
         where command_id = $1 and broken_at is null returning command_id, org_id, written, taken),
       put as (
         insert into file_transfer_chunks (command_id, seq, org_id, data)
         select here.command_id, c.seq, here.org_id, c.data from here, (values ${rows}) as c (seq, data))
       select written, taken from here`,
      [commandId, total, seq, ...chunks],
    );
    own.hint(MOVED_HINT, commandId);
    if (!levels[0]) throw TransferOver();
    return levels[0];
  });
}

/** Waits until the other end has read enough. */
async function untilRead(ctx: Context, commandId: string, level: Level, signal: AbortSignal): Promise<void> {
  let { written, taken } = level;
  let movedAt = performance.now();
  while (written - taken > MAX_UNREAD_BYTES) {
    signal.throwIfAborted();
    const listener = signalsOf(ctx).listen(commandId);
    try {
      const now = await levelOf(ctx, commandId);
      if (!now) throw TransferOver();
      if (now.taken !== taken) movedAt = performance.now();
      ({ written, taken } = now);
      if (written - taken <= MAX_UNREAD_BYTES) return;
      if (performance.now() - movedAt > waitMsOf(ctx)) throw DeviceTimeout();
      await listener.wait(POLL_MS, signal);
    } finally {
      listener.stop();
    }
  }
}

async function levelOf(ctx: Context, commandId: string): Promise<Level | undefined> {
  // reach: the transfer of the caller's own call, or of the agent's own device
  const { rows } = await ctx.asCaller((own) =>
    own.sql<Level>('select written, taken from file_transfers where command_id = $1 and broken_at is null', [
      commandId,
    ]),
  );
  return rows[0];
}

/** Throws DEVICE_TIMEOUT after `ms` milliseconds, and the reason of `signal` when it is aborted. */
async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const { promise: ends, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => reject(DeviceTimeout('No data was received for too long')), ms);
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave);
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, ends]);
  } catch (error) {
    promise.catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', leave);
  }
}
