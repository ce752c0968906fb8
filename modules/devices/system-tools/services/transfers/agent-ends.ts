/** The agent's end of a transfer: sends a file for a download, or receives one of an upload. */
import { type BodyStream, type Context, errors, type Input, type Reply, reply } from '#core';
import { TransferOver } from '../../errors.ts';
import { variables } from '../../variables.ts';
import { readTransfer } from './chunk-reads.ts';
import { writeTransfer } from './chunk-writes.ts';
import { streamOf } from './streams.ts';
import { begin, breakOff } from './transfers.ts';

type FromAgent = Pick<Input<{ commandId: string }>, 'params' | 'headers' | 'gone'>;

function agentOf(ctx: Context, { params }: FromAgent) {
  const { deviceId } = ctx.scope;
  if (!deviceId) throw errors.Unauthenticated();
  return { deviceId, commandId: params.commandId };
}

/** Throws VALIDATION_ERROR without the size, PAYLOAD_TOO_LARGE, TRANSFER_OVER. */
export async function bringFile(ctx: Context, input: FromAgent & { payload: BodyStream }) {
  const agent = agentOf(ctx, input);
  const given = input.headers['x-file-size'] ?? '';
  const most = variables.of(ctx.services.config).transferMaxBytes;
  if (!/^\d{1,15}$/.test(given)) {
    const message = 'The header x-file-size must be the number of bytes';
    throw errors.ValidationFailed({ message, details: [{ in: 'headers', path: 'x-file-size', message }] });
  }
  const size = Number(given);
  if (size > most) {
    await breakOff(ctx, agent.commandId);
    throw errors.PayloadTooLarge(`A file has at most ${most} bytes`);
  }
  if (!(await begin(ctx, agent, 'download', size))) throw TransferOver();
  const { bytes } = await writeTransfer(ctx, agent.commandId, input.payload, input.gone, size);
  return { success: true, bytes };
}

/** Throws TRANSFER_OVER. If the connection ends before the last chunk, the file is incomplete. */
export async function fetchFile(ctx: Context, input: FromAgent): Promise<Reply> {
  const agent = agentOf(ctx, input);
  const begun = await begin(ctx, agent, 'upload', null);
  if (!begun) throw TransferOver();
  const stream = streamOf(ctx, (signal) => readTransfer(ctx, agent.commandId, signal));
  const { size, sha256 } = begun;
  return reply(stream, {
    type: 'application/octet-stream',
    headers: {
      'cache-control': 'no-store',
      ...(size === null ? {} : { 'x-file-size': String(size) }),
      ...(sha256 === null ? {} : { 'x-file-sha256': sha256 }),
    },
  });
}
