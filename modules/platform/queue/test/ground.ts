/** A platform, a system administrator, and jobs put into the queue as modules put them there. */
import { join } from 'node:path';
import { startTestPlatform, systemUser, tenant } from '#test';
import { startWorkers, type WorkerOptions } from '../../../../workers/index.ts';

export interface Seen {
  id: number;
  state: string;
  attempts: number;
  lastError: string | null;
  task: string;
  orgId: string | null;
  nodeId: string | null;
  runAt: string;
}

export async function openGround(env: Record<string, string> = {}) {
  const platform = await startTestPlatform(env, join(import.meta.dirname, '../../..'));
  const admin = await systemUser(platform);
  const victim = await tenant(platform);
  const { database } = platform.platform.tasks.work;
  const call = <B>(method: string, path: string, body?: unknown) =>
    platform.call<B>(method, `/admin/jobs${path}`, { token: admin.token, ...(body === undefined ? {} : { body }) });
  return {
    platform,
    admin,
    victim,
    call,
    /** A module's own job, on its way through the front door. */
    async add(
      task: string,
      payload: object,
      options: { orgId?: string | null; runAt?: Date; queue?: string; key?: string; priority?: number } = {},
    ): Promise<number> {
      const { registry } = platform.platform.tasks;
      const row = registry.jobRow(task, payload, { orgId: null, requestId: 'test' }, options);
      await database.platform.query('select flush_effects($1::jsonb)', [JSON.stringify({ jobs: [row] })]);
      const [made] = await platform.sql<{ id: number }>('select max(id)::int as id from graphile_worker.jobs');
      return Number(made?.id);
    },
    /** As a worker holds it. */
    hold: (id: number, by: string, ago = '0 s') =>
      platform.sql(
        `update graphile_worker._private_jobs set locked_at = now() - $3::interval, locked_by = $2, attempts = attempts + 1 where id = $1`,
        [id, by, ago],
      ),
    failed: (id: number, message: string) =>
      platform.sql('update graphile_worker._private_jobs set attempts = max_attempts, last_error = $2 where id = $1', [
        id,
        message,
      ]),
    node: (id: string, options: { ago?: string; tasks?: string[]; concurrency?: number; active?: number } = {}) =>
      platform.sql(
        `insert into worker_nodes (id, version, concurrency, worker_ids, heartbeat_at, tasks, active_jobs)
         values ($1, 'test', $2, array['pool-' || $1], now() - $3::interval, $4, $5)
         on conflict (id) do update set heartbeat_at = excluded.heartbeat_at, state = 'running', active_jobs = excluded.active_jobs,
           tasks = excluded.tasks, drain_requested_at = null`,
        [
          id,
          options.concurrency ?? 4,
          options.ago ?? '0 s',
          options.tasks ?? ['audit/plan-retention'],
          options.active ?? 0,
        ],
      ),
    clear: () =>
      platform.sql(
        `with a as (delete from graphile_worker._private_jobs), b as (delete from worker_nodes),
           c as (delete from paused_tasks), d as (delete from queue_health), e as (delete from cron_status)
         delete from graphile_worker._private_job_queues`,
      ),
    workers: (options: Partial<WorkerOptions> = {}) =>
      startWorkers(platform.platform.tasks, { concurrency: 2, version: 'test', cron: false, ...options }),
  };
}
