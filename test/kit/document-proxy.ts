/** Stoplight's Prism between the kit's calls and the servers: it checks every request and answer against openapi.json. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from './ports.ts';

const ROOT = join(import.meta.dirname, '../..');
const PREFIX = '/api/v1';
/** Says which server a call is for: one Prism stands before all of them. */
const UPSTREAM = 'x-document-proxy-upstream';
const EXCHANGE = 'x-document-proxy-exchange';

export interface DocumentProxy {
  url: string;
  /** How many calls went through. */
  exchanges(): number;
  /** What Prism found wrong, one line each. */
  violations(): readonly string[];
  stop(): Promise<void>;
}

/** The address and the headers that lead a call through the proxy. */
export const throughProxy = (
  proxy: string,
  base: string,
  path: string,
): { url: string; headers: Record<string, string> } => ({
  url: proxy + path,
  headers: { [UPSTREAM]: base },
});

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Passes a request on as it is, but for these headers; rejects when no answer comes. */
async function forward(
  from: IncomingMessage,
  to: string,
  headers: Record<string, string | undefined>,
): Promise<IncomingMessage> {
  const all = Object.entries({ ...from.headers, ...headers }).filter(([, value]) => value !== undefined);
  const onward = request(to, { method: from.method, headers: Object.fromEntries(all), agent: false });
  from.pipe(onward);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  return answer;
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  answer.pipe(response);
  answer.on('aborted', () => response.destroy());
}

async function startPrism(upstream: string): Promise<{ prism: ChildProcess; url: string }> {
  const port = await freePort();
  const cli = join(ROOT, 'node_modules/@stoplight/prism-cli/dist/index.js');
  const args = ['proxy', '-h', '127.0.0.1', '-p', String(port), '--errors', 'openapi.json', upstream];
  const prism = spawn(process.execPath, [cli, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    let text = '';
    prism.stdout?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-10_000);
      if (text.includes('Prism is listening')) resolve();
    });
    prism.once('exit', (code) => reject(new Error(`Prism ended with ${code}: ${text}`)));
  });
  return { prism, url: `http://127.0.0.1:${port}` };
}

/** What Prism says of an exchange: in a header, or in an answer of its own instead of the server's. */
async function found(answer: IncomingMessage): Promise<{ fault: string; text?: string }> {
  const said = answer.headers['sl-violations'];
  const own = answer.headers['content-type']?.includes('application/problem+json');
  if (!own) return { fault: typeof said === 'string' ? said : '' };
  let text = '';
  for await (const chunk of answer) text += chunk;
  return { fault: text, text };
}

export async function startDocumentProxy(): Promise<DocumentProxy> {
  const violations: string[] = [];
  /** Exchanges whose server went away: to the caller, too, the connection must break. */
  const broken = new Set<string>();
  let exchanges = 0;
  const back = createServer(async (from, response) => {
    const { [UPSTREAM]: base, [EXCHANGE]: exchange } = from.headers as Record<string, string>;
    try {
      const own = { [UPSTREAM]: undefined, [EXCHANGE]: undefined, host: new URL(base ?? '').host };
      const answer = await forward(from, `${base}${from.url}`, own);
      answer.on('aborted', () => broken.add(exchange ?? ''));
      passBack(answer, response);
    } catch {
      broken.add(exchange ?? '');
      response.destroy();
    }
  });
  const { prism, url: behind } = await startPrism(`${await listening(back)}${PREFIX}`);
  const front = createServer(async (from, response) => {
    const exchange = String(++exchanges);
    const label = `${from.method} ${from.url}`;
    try {
      const answer = await forward(from, `${behind}${from.url}`, { [EXCHANGE]: exchange });
      if (broken.delete(exchange)) {
        answer.resume();
        response.destroy();
        return;
      }
      const { fault, text } = await found(answer);
      if (fault) violations.push(`${label}: ${answer.statusCode} ${fault}`);
      if (text === undefined) passBack(answer, response);
      else response.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
    } catch (error) {
      violations.push(`${label}: ${error}`);
      response.destroy();
    }
  });
  return {
    url: await listening(front),
    exchanges: () => exchanges,
    violations: () => violations,
    async stop() {
      prism.kill();
      for (const server of [front, back]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
