/** Channels, messages to them, and servers that take them, for the tests of this module. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from '#core';
import { runUnitOfWork } from '#core/work';
import { type Called, type ErrorBody, type Person, type Tenant, type TestPlatform, tenant } from '#test';
import { NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';
import type { ChannelMessage } from '../models/message.ts';

export interface Received {
  method: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
}
/** Somebody's server; `answer` says how it answers. */
export async function receiver() {
  const one = {
    received: [] as Received[],
    answer: { status: 200, headers: {} as Record<string, string>, text: 'ok' },
    url: '',
    close: async () => undefined as unknown,
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const { method = '', headers } = request;
      one.received.push({ method, headers, text, body: JSON.parse(text) as Record<string, unknown> });
      response.writeHead(one.answer.status, one.answer.headers).end(one.answer.text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  one.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  one.close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return one;
}

export interface Shown {
  id: string;
  config: Record<string, unknown>;
  health: string;
  enabled: boolean;
  consecutiveFailures: number;
  lastError: string | null;
  warning: string | null;
  made?: Record<string, string>;
  [key: string]: unknown;
}
export interface Kept extends Record<string, unknown> {
  id: string;
  kind: string;
  status: string;
  attempts: number;
  error: string | null;
  reached: string[];
  provider_message_id: string | null;
  next_attempt_at: Date;
}

export const message = (more: Partial<ChannelMessage> = {}): ChannelMessage => ({
  alertId: randomUUID(),
  kind: 'trigger',
  severity: 'high',
  title: 'Disk full on pc-1',
  message: 'C: has 2 % left',
  link: '/alerts/1',
  organization: 'Doe & Sons',
  device: 'pc-1',
  at: '2026-11-21T12:00:00.000Z',
  ...more,
});

export async function openTenant(test: TestPlatform) {
  const at: Tenant = await tenant(test);
  const call = <B = { data: Shown }>(method: string, path: string, body?: object, person: Person = at.orgAdmin) =>
    test.call<B>(method, `/alerts/channels${path}`, { token: person.token, ...(body ? { body } : {}) });
  const work = <T>(run: (ctx: Context) => Promise<T>): Promise<T> => {
    const scope = organizationScope(at.orgId, at.partnerId);
    const { tasks } = test.platform;
    return runUnitOfWork(tasks.work, { actor: NOBODY, scope, requestId: 'test', log: tasks.log, role: 'app' }, run);
  };
  return {
    ...at,
    call,
    async channel(type: string, config: object, more: object = {}): Promise<Shown> {
      const { status, body } = await call('POST', '', { name: 'Ops', type, config, ...more });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.data;
    },
    read: async (id: string) => (await call('GET', `/${id}`)).body.data,
    /** As the module of alerts does it: within its own transaction, as the organization. */
    async send(channelId: string, ...messages: (ChannelMessage & { step?: number; sequence?: number })[]) {
      await work(async (ctx) => {
        for (const one of messages) await ctx.use('alert-channels').send(channelId, { orgId: at.orgId, ...one });
      });
      await deliver(test);
    },
    cancel: (alertId: string) => work((ctx) => ctx.use('alert-channels').cancel(alertId)),
    kept: (channelId: string) =>
      test.sql<Kept>(
        `select n.*, q.due_at as next_attempt_at from alert_notifications n left join alert_channel_queue q on q.id = n.id
         where n.channel_id = $1 order by n.created_at, n.id`,
        [channelId],
      ),
  };
}
export type Ground = Awaited<ReturnType<typeof openTenant>>;

/** Sends what is due, and lets what follows from it happen. */
async function deliver(test: TestPlatform): Promise<void> {
  await test.platform.tasks.drainDeliveries('alert-channels');
  await test.runJobs();
}

/** Makes what waits for a later attempt due now, and sends it. */
export async function hurry(test: TestPlatform, channelId: string): Promise<void> {
  await test.sql('update alert_channel_queue set due_at = now() where channel_id = $1 and lease is null', [channelId]);
  await deliver(test);
}

export const codeOf = (called: Called<unknown>) => (called.body as Partial<ErrorBody>).error?.code;
