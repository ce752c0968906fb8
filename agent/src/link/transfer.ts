/** Streams the content of files to and from the server, at the pace of the slower side. */
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { apiBase, refusedBy, UnreachableError } from './client.ts';

export interface TransferOptions {
  token: string;
  /** Ends the transfer; its time limit is the caller's, who sees the progress. */
  signal: AbortSignal;
}
/** Calls of unknown length on one server. Both throw RefusedError and UnreachableError, as all calls do. */
export interface Transfers {
  /** Resolves when the server has confirmed the whole content. `onProgress` is called with each part that was taken. */
  put(
    path: string,
    content: AsyncIterable<Buffer>,
    options: TransferOptions & { headers: Record<string, string>; onProgress: () => void },
  ): Promise<void>;
  /** The content as it arrives; iterating throws when it breaks off. */
  get(
    path: string,
    options: TransferOptions,
  ): Promise<{ headers: IncomingMessage['headers']; content: IncomingMessage }>;
}

const MAX_RESPONSE_BYTES = 64 * 1024;

/** Not by fetch, which gives up on an upload of more than five minutes. Redirects are errors, as in all calls. */
export function createTransfers(server: string): Transfers {
  const base = apiBase(server);
  const start = (method: 'GET' | 'PUT', path: string, { token, signal }: TransferOptions): ClientRequest => {
    const url = new URL(`${base}${path}`);
    const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
    // A connection of its own: one that the server closes meanwhile would break the transfer.
    const options = { method, agent: false as const, headers: { authorization: `Bearer ${token}` }, signal };
    return request(url, options);
  };
  return {
    async put(path, content, options) {
      const request = start('PUT', path, options);
      request.setHeader('content-type', 'application/octet-stream');
      for (const [name, value] of Object.entries(options.headers)) request.setHeader(name, value);
      const answer = answerOf(request, base);
      try {
        await pour(content, request, answer, options.onProgress);
        await mustAgree(await answer);
      } finally {
        request.destroy();
      }
    },
    async get(path, options) {
      const request = start('GET', path, options);
      request.end();
      const content = await answerOf(request, base);
      if (content.statusCode !== 200) await mustAgree(content);
      return { headers: content.headers, content };
    },
  };
}

function answerOf(request: ClientRequest, base: string): Promise<IncomingMessage> {
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (fault: NodeJS.ErrnoException) =>
      reject(new UnreachableError(`${base} did not answer: ${fault.code ?? fault.message}`)),
    );
  });
  // The caller that awaits it comes later.
  answer.catch(() => undefined);
  return answer;
}

/** Writes until the end, or until the server answers before it: then it does not want the rest. */
async function pour(
  content: AsyncIterable<Buffer>,
  request: ClientRequest,
  answer: Promise<IncomingMessage>,
  onProgress: () => void,
): Promise<void> {
  let answered = false;
  let goOn = (): void => undefined;
  request.on('drain', () => goOn());
  const settled = (): void => {
    answered = true;
    goOn();
  };
  answer.then(settled, settled);
  for await (const chunk of content) {
    if (answered) return;
    if (!request.write(chunk)) {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    onProgress();
  }
  request.end();
}

async function mustAgree(response: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_RESPONSE_BYTES) chunks.push(chunk);
  }
  const { statusCode = 0, statusMessage = '', headers } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  throw refusedBy(statusCode, statusMessage, headers['retry-after'], Buffer.concat(chunks).toString());
}
