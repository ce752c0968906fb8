/** Downloads a file from a device. */
import { createHash } from 'node:crypto';
import { type Context, type Reply, reply } from '#core';
import { DeviceBadResponse } from '../../errors.ts';
import { READ_FILE } from '../../models/file.ts';
import { auditingFailure } from '../calls/calls.ts';
import { untilEnded } from '../calls/endings.ts';
import { resultOf, timeoutOf } from '../calls/outcomes.ts';
import { type StartedCall, startCall, type ToolInput } from '../calls/requests.ts';
import { readTransfer } from './chunk-reads.ts';
import { filePath, nameOf } from './paths.ts';
import { signalsOf } from './signals.ts';
import { streamOf } from './streams.ts';
import { begun, drop } from './transfers.ts';

/** How often the transfer is polled, in milliseconds, because hints may be lost. */
const POLL_MS = 500;

/**
 * Answers when the device has begun to send, so that its errors before that are answers too; a later error closes the connection.
 * The last bytes are sent only after the agent's size and SHA-256 match the received data.
 */
export async function download(ctx: Context, input: ToolInput & { query: { path: string } }): Promise<Reply> {
  const { path } = input.query;
  const request = {
    payload: ({ osType }: { osType: string }) => ({ path: filePath(path, osType), transfer: true }),
    target: { path },
    transfer: { direction: 'download', size: null, sha256: null },
  } as const;
  const call = await startCall(ctx, input, READ_FILE, request);
  return auditingFailure(ctx, READ_FILE, call, request, async () => {
    try {
      const size = await untilBegun(ctx, call, input.gone);
      return answer(ctx, call, size, nameOf(path));
    } catch (error) {
      await drop(ctx, call.commandId);
      throw error;
    }
  });
}

/** The size that the agent announced. Throws the error that it answered instead. */
async function untilBegun(ctx: Context, call: StartedCall, gone: AbortSignal): Promise<number> {
  const { commandId } = call;
  const ended = new AbortController();
  const stop = AbortSignal.any([gone, ended.signal]);
  const ending = untilEnded(ctx, call, stop).finally(() => ended.abort());
  // It is awaited below; a rejection before that must not count as unhandled.
  ending.catch(() => undefined);
  try {
    for (;;) {
      const listener = signalsOf(ctx).listen(commandId);
      try {
        const seen = await begun(ctx, commandId);
        if (seen?.size != null) return seen.size;
        if (stop.aborted) break;
        await listener.wait(POLL_MS, stop);
      } finally {
        listener.stop();
      }
    }
  } finally {
    ended.abort();
  }
  resultOf(READ_FILE, commandId, await ending);
  // The command has completed without a transfer.
  throw DeviceBadResponse();
}

function answer(ctx: Context, call: StartedCall, size: number, name: string): Reply {
  const stream = streamOf(ctx, (signal) => verified(ctx, call, size, signal));
  stream.once('close', () => void drop(ctx, call.commandId));
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

async function* verified(ctx: Context, call: StartedCall, size: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  const { commandId } = call;
  const hash = createHash('sha256');
  let held: Buffer | null = null;
  for await (const chunk of readTransfer(ctx, commandId, signal)) {
    hash.update(chunk);
    if (held) yield held;
    held = chunk;
  }
  const ending = await untilEnded(ctx, { ...call, first: Promise.resolve() }, signal);
  if (!ending) throw timeoutOf(READ_FILE, commandId);
  const said = resultOf(READ_FILE, commandId, ending);
  if (said.size !== size || said.sha256 !== hash.digest('hex')) throw DeviceBadResponse();
  if (held) yield held;
}
