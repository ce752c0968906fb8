/** A file of a device on its way to whoever asked for it. */
import { createHash } from 'node:crypto';
import { type Context, type Reply, reply } from '#core';
import { DeviceBadResponse } from '../../errors.ts';
import { READ_FILE } from '../../models/file.ts';
import { noted } from '../calls/calls.ts';
import { untilEnded } from '../calls/endings.ts';
import { type Asked, type Placed, placeOrder } from '../calls/orders.ts';
import { resultOf, timeoutOf } from '../calls/outcomes.ts';
import { bellOf } from './bell.ts';
import { flowOf } from './flows.ts';
import { filePath, nameOf } from './paths.ts';
import { take } from './taking.ts';
import { begun, drop } from './transfers.ts';

/** The other process's word may be lost. */
const LOOK_MS = 500;

/**
 * Answers when the device has begun to send, so that its refusal is an answer too; what goes wrong later breaks the
 * connection. The last bytes go out once the agent has said what it sent, and it is what came.
 */
export async function download(ctx: Context, input: Asked & { query: { path: string } }): Promise<Reply> {
  const { path } = input.query;
  const order = {
    payload: ({ osType }: { osType: string }) => ({ path: filePath(path, osType), transfer: true }),
    target: { path },
    transfer: { direction: 'download', size: null, sha256: null },
  } as const;
  const placed = await placeOrder(ctx, input, READ_FILE, order);
  return noted(ctx, READ_FILE, placed, order, async () => {
    try {
      const size = await untilBegun(ctx, placed, input.gone);
      return answer(ctx, placed, size, nameOf(path));
    } catch (error) {
      await drop(ctx, placed.commandId);
      throw error;
    }
  });
}

/** The size that the agent announced. Throws what it answered instead. */
async function untilBegun(ctx: Context, placed: Placed, gone: AbortSignal): Promise<number> {
  const { commandId } = placed;
  const ended = new AbortController();
  const stop = AbortSignal.any([gone, ended.signal]);
  const ending = untilEnded(ctx, placed, stop).finally(() => ended.abort());
  // Looked at when it matters; until then nobody must trip over it.
  ending.catch(() => undefined);
  try {
    for (;;) {
      const ear = bellOf(ctx).listen(commandId);
      try {
        const seen = await begun(ctx, commandId);
        if (seen?.size != null) return seen.size;
        if (stop.aborted) break;
        await ear.heard(LOOK_MS, stop);
      } finally {
        ear.stop();
      }
    }
  } finally {
    ended.abort();
  }
  resultOf(READ_FILE, commandId, await ending);
  // It says that it is done and has brought nothing.
  throw DeviceBadResponse();
}

function answer(ctx: Context, placed: Placed, size: number, name: string): Reply {
  const stream = flowOf(ctx, (signal) => verified(ctx, placed, size, signal));
  stream.once('close', () => void drop(ctx, placed.commandId));
  return reply(stream, {
    type: 'application/octet-stream',
    headers: {
      'content-length': String(size),
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll(/['()*]/g, percent)}`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
    live: () => stream.destroy(),
  });
}

const percent = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

async function* verified(ctx: Context, placed: Placed, size: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  const { commandId } = placed;
  const hash = createHash('sha256');
  let held: Buffer | null = null;
  for await (const chunk of take(ctx, commandId, signal)) {
    hash.update(chunk);
    if (held) yield held;
    held = chunk;
  }
  const ending = await untilEnded(ctx, { ...placed, first: Promise.resolve() }, signal);
  if (!ending) throw timeoutOf(READ_FILE, commandId);
  const said = resultOf(READ_FILE, commandId, ending);
  if (said.size !== size || said.sha256 !== hash.digest('hex')) throw DeviceBadResponse();
  if (held) yield held;
}
