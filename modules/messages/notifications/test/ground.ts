/** What tests of notices do again and again: people, devices, events, and what came of them. */
import { randomUUID } from 'node:crypto';
import { runUnitOfWork } from '#core/work';
import { type ErrorBody, emitNamed, type Person, type Tenant, type TestPlatform, tenant } from '#test';
import { EVERYWHERE, NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';

export interface Shown {
  id: string;
  orgId: string | null;
  deviceId: string | null;
  type: string;
  priority: string;
  title: string;
  message: string;
  count: number;
  read: boolean;
  readAt: string | null;
  dedupeKey: string | null;
  lastOccurredAt: string;
}
export interface Listed {
  notifications: Shown[];
  data: Shown[];
  total?: number;
  unreadCount: number;
  limit: number;
  offset?: number;
  pagination: { total?: number; hasMore?: boolean; cursor?: string | null };
}
export interface Sent {
  id: string;
  user_id: string;
  kind: 'email' | 'push';
  digest: boolean;
  status: string;
  attempts: number;
  next_attempt_at: Date;
  due_at: Date;
  error: string | null;
  provider_message_id: string | null;
  targets: string[] | null;
}
interface Told {
  orgId?: string | null;
  siteId?: string;
  deviceId?: string;
  /** Who did it. */
  by?: Person;
}

export async function openTenant(test: TestPlatform) {
  const at: Tenant = await tenant(test);
  return {
    ...at,
    /** Emits the events in one change and lets what follows from them happen. */
    async tell(name: string, data: object, about: Told = {}, times = 1) {
      await emit(test, at, name, data, about, times);
      await sweep(test);
    },
    inbox: async (person: Person, query = '') =>
      (await test.call<Listed>('GET', `/notifications${query}`, { token: person.token })).body,
    device: async (siteId = at.siteId, orgId = at.orgId) => {
      const [row] = await test.sql<{ id: string }>(
        `insert into devices (org_id, site_id, hostname, os_type, lifecycle) values ($1, $2, $3, 'linux', 'active') returning id`,
        [orgId, siteId, `pc-${randomUUID().slice(0, 8)}`],
      );
      return row?.id ?? '';
    },
    site: async (orgId = at.orgId) => {
      const [row] = await test.sql<{ id: string }>(
        `insert into sites (org_id, name) values ($1, 'Branch') returning id`,
        [orgId],
      );
      return row?.id ?? '';
    },
    prefer: async (person: Person, ...preferences: object[]) => {
      const answer = await test.call<ErrorBody>('PUT', '/notifications/preferences', {
        token: person.token,
        body: { preferences },
      });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
    deliveries: (person: Person) =>
      test.sql<Sent & Record<string, unknown>>(
        `select d.*, q.due_at as next_attempt_at from notification_deliveries d left join notification_queue q on q.id = d.id
         where d.user_id = $1 order by d.created_at, d.kind`,
        [person.id],
      ),
  };
}
export type Ground = Awaited<ReturnType<typeof openTenant>>;

/** Emits the event in one change, and nothing more. */
export async function emit(
  test: TestPlatform,
  at: Tenant,
  name: string,
  data: object,
  { by, ...about }: Told,
  times = 1,
): Promise<void> {
  const { work, log } = test.platform.tasks;
  const everywhere = about.orgId === null;
  const scope = everywhere ? EVERYWHERE : organizationScope(about.orgId ?? at.orgId, at.partnerId);
  const actor = by ? { ...NOBODY, kind: 'user' as const, id: by.id } : NOBODY;
  const role = everywhere ? 'platform' : 'app';
  await runUnitOfWork(work, { actor, scope, requestId: 'test', log, role }, async (ctx) => {
    for (let time = 0; time < times; time += 1) emitNamed(ctx, name, data, about);
  });
}

/** Makes what waits for a later attempt due now, and sends it. */
export const hurry = async (test: TestPlatform, person: Person): Promise<void> => {
  await test.sql('update notification_queue set due_at = now() where user_id = $1 and lease is null', [person.id]);
  await sweep(test);
};

/** Runs the jobs, then sends what is due. */
export async function sweep(test: TestPlatform): Promise<void> {
  await test.runJobs();
  await test.platform.tasks.drainDeliveries('notifications');
  await test.platform.settle();
}
