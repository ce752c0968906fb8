/** Uploads a file to a device. */
import { createHash } from 'node:crypto';
import { BodyStream, type Context, errors } from '#core';
import { DeviceBadResponse } from '../../errors.ts';
import { INLINE_BYTES, type Placement, type Upload, WRITE_FILE } from '../../models/file.ts';
import { auditingFailure } from '../calls/calls.ts';
import { untilEnded } from '../calls/endings.ts';
import { resultOf } from '../calls/outcomes.ts';
import { type Device, startCall, type ToolInput } from '../calls/requests.ts';
import { writeTransfer } from './chunk-writes.ts';
import { filePath } from './paths.ts';
import { drop } from './transfers.ts';

interface Source {
  placement: Placement;
  from: 'query' | 'payload';
  size: number | null;
  sha256: string | null;
  content: AsyncIterable<Buffer>;
}
type Sent = ToolInput & { query: Partial<Placement>; payload: Upload | BodyStream };

/** Throws like calls of tools, and DEVICE_BAD_RESPONSE when the agent wrote something other than was sent. */
export async function upload(ctx: Context, input: Sent) {
  const { placement, from, size, sha256, content } = sourceOf(input);
  const { path, overwrite, createParents } = placement;
  const request = {
    payload: ({ osType }: Device) => ({
      ...{ path: filePath(path, osType, from), overwrite, createParents },
      ...{ size, sha256, transfer: true },
    }),
    target: { path, overwrite, createParents, ...(size === null ? {} : { size }) },
    transfer: { direction: 'upload', size, sha256 },
  } as const;
  const call = await startCall(ctx, input, WRITE_FILE, request);
  return auditingFailure(ctx, WRITE_FILE, call, request, async () => {
    const { commandId } = call;
    if (call.replayed) {
      const written = resultOf(WRITE_FILE, commandId, await untilEnded(ctx, call, input.gone));
      return { success: true, ...written };
    }
    const over = new AbortController();
    const ending = untilEnded(ctx, call, AbortSignal.any([input.gone, over.signal]));
    const writing = writeTransfer(ctx, commandId, content, AbortSignal.any([input.gone, over.signal]), size);
    try {
      // The agent may fail before it has read anything, and the client may stop early.
      await Promise.race([ending, writing]);
      const written = resultOf(WRITE_FILE, commandId, await ending);
      over.abort();
      const sent = await writing.catch(() => null);
      if (written.size !== sent?.bytes || written.sha256 !== sent.sha256) throw DeviceBadResponse();
      return { success: true, ...written };
    } finally {
      over.abort();
      await Promise.allSettled([ending, writing]);
      await drop(ctx, commandId);
    }
  });
}

function sourceOf({ query, payload, headers }: Sent): Source {
  const { path, overwrite = false, createParents = false } = query;
  if (payload instanceof BodyStream) {
    if (path === undefined) throw refused('query', 'path', 'is required with a file as the body');
    const announced = headers['content-encoding'] ? undefined : headers['content-length'];
    const size = announced === undefined ? null : Number(announced);
    return { placement: { path, overwrite, createParents }, from: 'query', size, sha256: null, content: payload };
  }
  const bytes = Buffer.from(payload.content, payload.encoding === 'text' ? 'utf8' : 'base64');
  if (
    payload.encoding === 'base64' &&
    bytes.toString('base64').replace(/=+$/, '') !== payload.content.replace(/=+$/, '')
  )
    throw refused('payload', 'content', 'must be base64');
  if (bytes.length > INLINE_BYTES)
    throw errors.PayloadTooLarge(
      'A file within JSON has at most 4 MiB; send larger ones as the body, as application/octet-stream with ?path=',
    );
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { placement: payload, from: 'payload', size: bytes.length, sha256, content: once(bytes) };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function refused(place: 'query' | 'payload', path: string, why: string) {
  const message = `"${path}" ${why}`;
  return errors.ValidationFailed({ message, details: [{ in: place, path, message }] });
}
