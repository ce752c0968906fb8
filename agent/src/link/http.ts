/** One HTTP request by Node's plain client: `fetch` brings a second one along, which takes 25 MB of an idle agent's memory. */
import { type IncomingMessage, type OutgoingHttpHeaders, request as plain } from 'node:http';
import { request as secure } from 'node:https';

export interface Outgoing {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
  /** Ends the request, and the reading of its answer, with its reason. */
  signal: AbortSignal;
}

/** The answer, its body still to be read. Follows no redirect: what to do with one is the caller's business. */
export function send(url: string | URL, { method = 'GET', headers, body, signal }: Outgoing): Promise<IncomingMessage> {
  const target = new URL(url);
  return new Promise((resolve, reject) => {
    if (target.protocol !== 'http:' && target.protocol !== 'https:')
      throw new TypeError(`${target.protocol} is no web address`);
    const request = (target.protocol === 'https:' ? secure : plain)(target, { method, headers, signal });
    request.once('response', resolve);
    request.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    request.end(body);
  });
}

/** The whole body as text. */
export async function textOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  return Buffer.concat(chunks).toString('utf8');
}
