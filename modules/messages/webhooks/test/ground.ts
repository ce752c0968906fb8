/** The ground of these tests: a platform that sends, and receivers that are real servers on this machine. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { runUnitOfWork } from '#core/work';
import { type Called, emitNamed, type Person, startTestPlatform, type Tenant, type TestPlatform, tenant } from '#test';
import { NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  path: string;
  /** As it came, byte for byte. */
  text: string;
  body: { id: string; type: string; timestamp: string; orgId: string | null; data: Record<string, unknown> };
}
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Waits for this before it answers. */
  after?: Promise<unknown>;
}
export interface Receiver {
  url: string;
  got: Received[];
  /** Requests that it has not answered yet, and the most there were. */
  open: number;
  most: number;
  /** What it answers from now on. */
  answer: (received: Received) => Answer;
  close(): Promise<void>;
}

export async function receiver(): Promise<Receiver> {
  const one: Receiver = { url: '', got: [], open: 0, most: 0, answer: () => ({}), close: async () => undefined };
  const server = createServer((request, response) => {
    one.open += 1;
    one.most = Math.max(one.most, one.open);
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', async () => {
      const received = { headers: request.headers, path: request.url ?? '', text, body: JSON.parse(text) };
      one.got.push(received);
      const { status = 200, headers = {}, body = 'ok', after } = one.answer(received);
      await after;
      one.open -= 1;
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  one.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook`;
  one.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return one;
}

/** A platform that may call this machine without TLS, as an operator would allow it. */
export const openPlatform = (env: Record<string, string> = {}): Promise<TestPlatform> =>
  startTestPlatform({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', OUTBOUND_ALLOW_HTTP: 'true', ...env });

export interface Shown {
  id: string;
  status: string;
  secret: string;
  headers: { key: string; value: string }[];
  secrets: { id: string; expiresAt: string | null }[];
  disabledReason: string | null;
  consecutiveFailures: number;
  [key: string]: unknown;
}
export interface Sent {
  id: string;
  status: string;
  attempts: number;
  messageId: string;
  errorCode: string | null;
  [key: string]: unknown;
}

/** A tenant with what these tests do again and again. */
export async function openTenant(test: TestPlatform) {
  const at: Tenant = await tenant(test);
  const { token } = at.orgAdmin;
  const call = <B = { data: Shown }>(method: string, path: string, body?: unknown, person?: Person) =>
    test.call<B>(method, path, { token: person?.token ?? token, ...(body === undefined ? {} : { body }) });
  return {
    ...at,
    call,
    async webhook(url: string, events: string[] = ['device.*'], more: object = {}): Promise<Shown> {
      const made = await call('POST', '/webhooks', { name: 'Tickets', url, events, ...more });
      if (made.status !== 201) throw new Error(`${made.status} ${JSON.stringify(made.body)}`);
      return made.body.data;
    },
    read: async (id: string) => (await call('GET', `/webhooks/${id}`)).body.data,
    deliveries: async (id: string, query = '') =>
      (await call<{ data: Sent[] }>('GET', `/webhooks/${id}/deliveries?limit=100${query}`)).body.data,
    emit: (name: string, data: object, about: object = {}) => emit(test, at, [[name, data, about]]),
    /** Many events of one kind in one change. */
    emitMany: (count: number) =>
      emit(
        test,
        at,
        Array.from({ length: count }, (_, n) => ['devices.online', { hostname: `pc-${n}` }, {}]),
      ),
  };
}
export type Ground = Awaited<ReturnType<typeof openTenant>>;

async function emit(test: TestPlatform, at: Tenant, events: [string, object, object][]): Promise<void> {
  const { work, log } = test.platform.tasks;
  const scope = organizationScope(at.orgId, at.partnerId);
  await runUnitOfWork(work, { actor: NOBODY, scope, requestId: 'test', log, role: 'app' }, async (ctx) => {
    for (const [name, data, about] of events) emitNamed(ctx, name, data, about);
  });
}

/** Waits for a condition; says what it was when it does not come. */
export async function until<T>(what: string, look: () => T | Promise<T>, seconds = 60): Promise<NonNullable<T>> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen) return seen as NonNullable<T>;
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain: ${what}`);
    await pause(20);
  }
}

/** Lets what waits for a later attempt be due now. */
export const hurry = (test: TestPlatform, webhookId: string) =>
  test.sql(`update webhook_queue set due_at = now() where webhook_id = $1 and lease is null`, [webhookId]);

export const codeOf = (called: Called<unknown>) => (called.body as { error?: { code: string } }).error?.code;
