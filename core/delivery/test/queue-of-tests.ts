/** A queue without a module: its tables, its receivers in memory, and processes that send from it. */
import { setTimeout as pause } from 'node:timers/promises';
import { runUnitOfWork } from '#core/work';
import { startTestPlatform, type TestPlatform } from '#test';
import { type Context, EVERYWHERE, NOBODY } from '../../context/index.ts';
import { type AnyDeliveryQueue, defineDelivery, type Outcome, type StartServices } from '../../contract/index.ts';

export interface Message {
  receiverId: string;
  text: string;
  host: string;
}
export type Send = (message: Message & { id: string }, signal: AbortSignal) => Promise<Outcome> | Outcome;

const TABLES = `
create table test_receivers (id uuid primary key default gen_random_uuid(), host text not null, open boolean not null default true);
call protect_platform('test_receivers');
create table test_log (
  id uuid primary key, status text not null default 'pending', attempts integer not null default 0, error text,
  created_at timestamptz not null default now());
call protect_platform('test_log');
create table test_queue (
  id uuid primary key default gen_random_uuid(), receiver_id uuid not null, org_id uuid, partner_id uuid, body text not null);
call make_delivery_queue('test_queue', 'receiver_id');
call protect_tenant('test_queue', 'org_id', 'partner_id');`;

export async function openQueues() {
  const platform = await startTestPlatform({ LOG_LEVEL: 'silent' });
  const { work, log } = platform.platform.tasks;
  await work.database.owner.query(TABLES);
  /** What a module would get in `start`; `hint` reaches every process that a test starts. */
  const listeners: (() => void)[] = [];
  const without: string[] = [];
  const start: StartServices = {
    log,
    services: {
      ...work.services,
      modules: {
        ...work.services.modules,
        off: () => null,
        orgsWithout: () => without,
        partnersWithout: () => [],
      },
    },
    asPlatform: (run) =>
      runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run),
    asOrganization: async () => null,
    hint() {
      for (const listener of listeners) listener();
    },
    onNotice: (_channel, listener) => listeners.push(() => listener('')),
    onNoticesLost: () => undefined,
    onModulesChanged: () => undefined,
    clocks: false,
  };
  return {
    platform,
    start,
    /** Organizations for which the queue's module is off. */
    without,
    stop: () => platform.stop(),
    async receiver(host = 'example.com'): Promise<string> {
      const [row] = await platform.sql<{ id: string }>('insert into test_receivers (host) values ($1) returning id', [
        host,
      ]);
      return row?.id ?? '';
    },
    /** The texts of the messages that still wait, oldest first. */
    waiting: async (receiverId: string): Promise<string[]> =>
      (
        await platform.sql<{ body: string }>('select body from test_queue where receiver_id = $1 order by body', [
          receiverId,
        ])
      ).map(({ body }) => body),
    add: (receiverId: string, texts: readonly string[], orgId: string | null = null) =>
      platform.sql(
        `with made as (
           insert into test_queue (receiver_id, org_id, body, due_at)
           select $1, $3, text, now() + n * interval '1 microsecond' - interval '1 second'
           from unnest($2::text[]) with ordinality x (text, n) returning id)
         insert into test_log (id) select id from made`,
        [receiverId, texts, orgId],
      ),
    /** Makes what waits for another attempt due now. */
    hurry: (receiverId: string) =>
      platform.sql('update test_queue set due_at = now() where receiver_id = $1 and lease is null', [receiverId]),
    logOf: (receiverId: string) =>
      platform.sql<{
        status: string;
        attempts: number;
        error: string | null;
        seconds: number | null;
      }>(
        `select l.status, l.attempts, l.error, extract(epoch from q.due_at - now())::float8 as seconds
         from test_log l left join test_queue q on q.id = l.id where q.receiver_id = $1 order by q.body`,
        [receiverId],
      ),
    inPlatformRole: <T>(run: (ctx: Context) => Promise<T>): Promise<T> => start.asPlatform(run),
  };
}
export type Queues = Awaited<ReturnType<typeof openQueues>>;

/** A queue over the tables above. */
export const queueOf = (send: Send, more: Partial<AnyDeliveryQueue> = {}): AnyDeliveryQueue =>
  defineDelivery<Message>({
    name: 'tests',
    table: 'test_queue',
    partition: ['receiver_id'],
    limits: { perPartition: 2, perProcess: () => 8, leaseSeconds: 30 },
    retryDelays: [10, 100],
    receiver: { table: 'test_receivers', open: 'r.open', host: 'r.host' },
    message: { columns: `q.receiver_id as "receiverId", q.body as text` },
    send: async (_start, message, signal) => send(message, signal),
    record: {
      fields: 'note text',
      steps: `,
logged as (update test_log l set status = h.status, attempts = h.attempts + 1, error = h.error from held h where l.id = h.id)`,
      last: 'select id, status from held',
    },
    log: {
      table: 'test_log',
      ended: `status in ('delivered', 'failed')`,
      failed: `status = 'failed'`,
      retentionDays: 7,
    },
    ...more,
  });

/** Waits until the condition holds. Throws with `what` after a minute. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`not within a minute: ${what}`);
    await pause(20);
  }
}

export type { TestPlatform };
