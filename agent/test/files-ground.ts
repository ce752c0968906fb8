/** A folder, a server for its contents, and an agent's tools between them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { CommandHost } from '../src/commands/contract.ts';
import { toolHandlers } from '../src/commands/tools.ts';
import { createClient } from '../src/link/client.ts';
import { Session } from '../src/link/session.ts';
import { createTransfers } from '../src/link/transfer.ts';
import { type AgentState, memoryState } from '../src/store/state.ts';
import { linuxTools } from '../src/tools/linux/tools.ts';
import { temporaryFolder } from './harness.ts';
import { never } from './recordings.ts';

export type Answering = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export const MiB = 1024 * 1024;
export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

export interface Line {
  folder: string;
  requests: { method: string; url: string; headers: IncomingMessage['headers'] }[];
  session: Session;
  run(
    type: string,
    payload: Record<string, unknown>,
    limitMs?: number,
  ): ReturnType<NonNullable<ReturnType<typeof handlerOf>>>;
}
export const handlerOf = (own: string[], type: string, limitMs?: number) =>
  toolHandlers(linuxTools(own), limitMs).get(type);

/** A folder, a server that answers transfers as told, and an agent's tools that talk to it. */
export async function line(t: ExecutionContext, answering: Answering): Promise<Line> {
  const folder = await realpath(await temporaryFolder(t));
  const requests: Line['requests'] = [];
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    void answering(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = { agentId: 'agent-1', tokens: { authToken: 'the-token' } } as AgentState;
  const session = new Session(
    createClient(url, 1_000),
    memoryState(state),
    state,
    () => undefined,
    createTransfers(url),
  );
  const host = {
    sendContent: (...what) => session.sendContent(...what),
    fetchContent: (...what) => session.fetchContent(...what),
  } as CommandHost;
  return {
    folder,
    requests,
    session,
    run(type, payload, limitMs) {
      const handler = handlerOf([join(folder, 'agent/state')], type, limitMs);
      if (!handler) throw new Error(`no handler for ${type}`);
      return handler(payload, host, { commandId: 'c-1', signal: never });
    },
  };
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
export const refuse = (status: number, code: string) => (_request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { code, message: `refused with ${code}` } }));
};
export const nobody: Answering = () => {
  throw new Error('no transfer was expected');
};
