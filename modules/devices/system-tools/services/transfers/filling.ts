/** The end of a transfer at which bytes come in: cut into chunks, and read no faster than the other end takes them. */
import { createHash } from 'node:crypto';
import type { Context } from '#core';
import { DeviceTimeout, TransferOver } from '../../errors.ts';
import { waitMsOf } from '../calls/orders.ts';
import { bellOf, MOVED_HINT } from './bell.ts';
import { breakOff, fillUp } from './transfers.ts';

const CHUNK_BYTES = 256 * 1024;
/** What is written at once, and what may lie there untaken. */
const WRITE_BYTES = 4 * CHUNK_BYTES;
const MOST_UNTAKEN = 16 * 1024 * 1024;
/** A slow sender's bytes are handed on this often, in milliseconds. */
const FLUSH_MS = 1_000;
/** The other process's word may be lost. */
const LOOK_MS = 500;

export interface Filled {
  bytes: number;
  sha256: string;
}
interface Level {
  written: number;
  taken: number;
}

/**
 * Takes in all of `source`, then says that it is full. Whatever stands against it breaks the transfer off at both ends. Throws
 * TRANSFER_OVER when nobody takes it any more, DEVICE_TIMEOUT when nothing moves, and what the source throws.
 * @param expected bytes that were announced; another number breaks it off
 */
export async function fill(
  ctx: Context,
  commandId: string,
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
  expected: number | null = null,
): Promise<Filled> {
  try {
    const filled = await pour(ctx, commandId, source, signal);
    if (expected !== null && filled.bytes !== expected) throw TransferOver('Another number of bytes was announced');
    if (!(await fillUp(ctx, commandId))) throw TransferOver();
    return filled;
  } catch (error) {
    await breakOff(ctx, commandId);
    throw error;
  }
}

async function pour(
  ctx: Context,
  commandId: string,
  source: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Filled> {
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
      await untilTaken(ctx, commandId, await write(ctx, commandId, seq, chunks), signal);
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
    // It may still be at work on a piece that nobody wants.
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

/** Until the other end has made room. */
async function untilTaken(ctx: Context, commandId: string, level: Level, signal: AbortSignal): Promise<void> {
  let { written, taken } = level;
  let movedAt = performance.now();
  while (written - taken > MOST_UNTAKEN) {
    signal.throwIfAborted();
    const ear = bellOf(ctx).listen(commandId);
    try {
      const now = await levelOf(ctx, commandId);
      if (!now) throw TransferOver();
      if (now.taken !== taken) movedAt = performance.now();
      ({ written, taken } = now);
      if (written - taken <= MOST_UNTAKEN) return;
      if (performance.now() - movedAt > waitMsOf(ctx)) throw DeviceTimeout();
      await ear.heard(LOOK_MS, signal);
    } finally {
      ear.stop();
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

/** Throws DEVICE_TIMEOUT when it takes longer, or what `signal` was aborted with. */
async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const { promise: ends, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => reject(DeviceTimeout('Nothing came for too long')), ms);
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
