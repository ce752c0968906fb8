/** A server that speaks just enough of the agent protocol to watch what an agent does. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command, CommandResult } from '#agent-protocol';

export interface Seen {
  method: string;
  /** Below /api/v1. */
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** What the fake answered. */
  status: number;
}

export interface Answer {
  status: number;
  body?: unknown;
}

/** Refusal in the error envelope. */
export function refusal(status: number, code: string, details?: unknown): Answer {
  return { status, body: { error: { code, message: `refused with ${code}`, details } } };
}

export class FakeServer {
  readonly seen: Seen[] = [];
  /** Delivered with the next heartbeat or poll. */
  readonly queue: Command[] = [];
  /** Members added to every answer to a heartbeat. */
  heartbeat: Record<string, unknown> = {};
  /** Looks at each request first; an answer of its own replaces the usual one. */
  before: (request: Omit<Seen, 'status'>) => Answer | undefined = () => undefined;
  readonly #server: Server;
  #watchers: (() => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeServer> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const path = (request.url ?? '').replace('/api/v1', '');
        const body = text === '' ? {} : JSON.parse(text);
        const asked = { method: request.method ?? '', path, headers: request.headers, body };
        const { status, body: answer } = fake.before(asked) ?? fake.#usual(asked);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}));
        fake.seen.push({ ...asked, status });
        for (const watch of fake.#watchers) watch();
      });
    });
    const fake = new FakeServer(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves with the first value that `find` gives, looked for now and after each request. */
  until<T>(find: () => T | undefined | false): Promise<T> {
    return new Promise((resolve) => {
      const watch = (): void => {
        const found = find();
        if (found === undefined || found === false) return;
        this.#watchers = this.#watchers.filter((other) => other !== watch);
        resolve(found);
      };
      this.#watchers.push(watch);
      watch();
    });
  }

  /** Requests whose path ends so, oldest first. */
  calls(ending: string): Seen[] {
    return this.seen.filter(({ path }) => path.endsWith(ending));
  }

  /** The results that were accepted for a command. */
  results(id: string): CommandResult[] {
    const accepted = this.calls(`/commands/${id}/result`).filter(({ status }) => status === 200);
    return accepted.map(({ body }) => body as unknown as CommandResult);
  }

  /** The first accepted result of a command. */
  result(id: string): Promise<CommandResult> {
    return this.until(() => this.results(id)[0]);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #usual({ path }: Omit<Seen, 'status'>): Answer {
    if (path === '/agents/enroll') return { status: 201, body: enrolled('agent-1') };
    if (path.endsWith('/heartbeat')) {
      return { status: 200, body: { commands: this.queue.splice(0, 10), nextHeartbeatSeconds: 60, ...this.heartbeat } };
    }
    if (path.endsWith('/commands')) return { status: 200, body: { commands: this.queue.splice(0, 10) } };
    if (path.endsWith('/rotate-token')) return { status: 200, body: tokens('new') };
    return { status: 200, body: { success: true, changed: true } };
  }
}

/** The answer to an enrollment. */
export function enrolled(agentId: string): Record<string, unknown> {
  const config = { heartbeatIntervalSeconds: 60, metricsCollectionIntervalSeconds: 30 };
  return { agentId, deviceId: 'd-1', orgId: 'o-1', siteId: 's-1', ...tokens('old'), config, manifestTrustKeys: ['k'] };
}

function tokens(kind: string): Record<string, string> {
  return { authToken: `${kind}-auth`, watchdogAuthToken: `${kind}-watchdog` };
}
