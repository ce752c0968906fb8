/** Plain HTTP for file transfers: bodies that are generated while they are sent, and answers that are read in pieces. */
import { createHash } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FakeAgent } from '#test';

export interface Wire {
  /** Rejects when the connection breaks before the head. */
  answer: Promise<IncomingMessage>;
  /** Cuts the connection. */
  cut(): void;
}

export function send(
  url: string,
  { method, token, headers = {}, body }: { method: string; token: string; headers?: object; body?: Readable },
): Wire {
  const asked = request(url, { method, headers: { authorization: `Bearer ${token}`, ...headers }, agent: false });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve);
    asked.on('error', reject);
  });
  answer.catch(() => undefined);
  if (body) pipeline(body, asked).catch(() => undefined);
  else asked.end();
  return { answer, cut: () => asked.destroy() };
}

/** The request of the agent for the content of a command. */
export const asAgent = (
  base: string,
  agent: FakeAgent,
  commandId: string,
  options: { method: 'GET' | 'PUT'; headers?: object; body?: Readable },
): Wire => send(`${base}/api/v1/agents/${agent.agentId}/transfers/${commandId}`, { token: agent.token, ...options });

const BLOCK = Buffer.alloc(64 * 1024);

/** Generates this number of bytes on demand, the same each time. */
export function bytes(count: number): Readable {
  let sum = 0;
  return new Readable({
    read() {
      const block = Buffer.from(BLOCK.subarray(0, Math.min(BLOCK.length, count - sum)));
      if (block.length >= 4) block.writeUInt32LE(sum >>> 0);
      sum += block.length;
      this.push(block.length > 0 ? block : null);
    },
  });
}

/** The number of bytes and their hash; throws when the stream breaks. */
export async function digest(stream: AsyncIterable<Buffer>): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}

/** The body of an answer as JSON. */
export async function json(answer: IncomingMessage): Promise<{ status: number; body: Record<string, unknown> }> {
  let text = '';
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode ?? 0, body: JSON.parse(text) };
}
