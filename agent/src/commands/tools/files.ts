/** Commands about files; contents travel by transfers, whose time limit is their progress. */
import { RefusedError } from '../../link/client.ts';
import { ToolError } from '../../tools/contract.ts';
import { listFolder } from '../../tools/folders.ts';
import { inTime, Patience } from '../../tools/in-time.ts';
import { readFileFrom, writeFileTo } from '../../tools/transfers.ts';
import { flag, optionalText, optionalWhole, text } from '../payload.ts';
import type { Tool } from '../tool.ts';

const PATH = 2_048;
/** Whoever takes a file may be slow, and much lies on the way: the server, which sees both ends, ends what stands still. */
const SENDING_FACTOR = 5;
/** For the removal of a temporary file. */
export const CLEARING_MS = 2_000;

/** Runs a transfer for as long as something moves: nothing may take longer than `idleMs`, or what `onProgress` is told. */
async function whileItMoves<T>(
  signal: AbortSignal,
  idleMs: number,
  work: (signal: AbortSignal, onProgress: (nextMs?: number) => void) => Promise<T>,
): Promise<T> {
  const patience = new Patience(idleMs);
  const both = AbortSignal.any([signal, patience.signal]);
  try {
    return await inTime(
      work(both, (nextMs) => patience.touch(nextMs)),
      both,
      CLEARING_MS,
    );
  } catch (fault) {
    throw transferFault(fault);
  } finally {
    patience.end();
  }
}

/** What the server refused about the content. */
function transferFault(fault: unknown): unknown {
  if (!(fault instanceof RefusedError)) return fault;
  if (fault.status === 413) return new ToolError('TOO_LARGE', fault.message);
  return new Error(`the server did not take part in the transfer: ${fault.message}`);
}

async function* noticed(content: AsyncIterable<Buffer>, onProgress: () => void): AsyncGenerator<Buffer> {
  for await (const part of content) {
    onProgress();
    yield part;
  }
}

export const FOLDER_TOOLS = {
  file_list: ({ files }, payload, { signal }) =>
    listFolder(files, { path: text(payload, 'path', PATH), showHidden: flag(payload, 'showHidden') }, signal),
} satisfies Record<string, Tool>;

export const TRANSFER_TOOLS = {
  file_read: ({ files }, payload, { signal, commandId, host, idleMs }) =>
    whileItMoves(signal, idleMs, (both, onProgress) =>
      readFileFrom(files, text(payload, 'path', PATH), (size, parts) =>
        host.sendContent(
          commandId,
          { size, parts },
          { signal: both, onProgress: () => onProgress(idleMs * SENDING_FACTOR) },
        ),
      ),
    ),
  file_write: ({ files }, payload, { signal, commandId, host, idleMs }) =>
    whileItMoves(signal, idleMs, (both, onProgress) =>
      writeFileTo(
        files,
        {
          path: text(payload, 'path', PATH),
          overwrite: flag(payload, 'overwrite'),
          createParents: flag(payload, 'createParents'),
          size: optionalWhole(payload, 'size', 0, Number.MAX_SAFE_INTEGER) ?? null,
          sha256: optionalText(payload, 'sha256', 64) ?? null,
        },
        async () => {
          const { headers, content } = await host.fetchContent(commandId, both);
          const size = headers['x-file-size'];
          const sha256 = headers['x-file-sha256'];
          return {
            size: typeof size === 'string' ? Number(size) : null,
            sha256: typeof sha256 === 'string' ? sha256 : null,
            content: noticed(content, onProgress),
          };
        },
        both,
      ),
    ),
} satisfies Record<string, Tool>;
