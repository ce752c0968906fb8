/** A failed job and a silent worker, and what the contract tests need to know of the operations on the queue. */
import { type Example, type ExampleContext, shortName } from '#test';

const TASK = 'audit/plan-retention';
const TASK_PATH = `/admin/jobs/tasks/${encodeURIComponent(TASK)}`;
const SILENT_WORKER = 'example:1:00000000';

/** A job that is due tomorrow. */
async function queued({ platform }: Pick<ExampleContext, 'platform'>): Promise<number> {
  const [row] = await platform.sql<{ id: number }>(
    `select id::int from graphile_worker.add_job($1, run_at := now() + interval '1 day')`,
    [TASK],
  );
  return row?.id ?? 0;
}

/** A worker that was last heard of so long ago. */
async function worker({ platform }: ExampleContext, ago: string): Promise<string> {
  const [row] = await platform.sql<{ id: string }>(
    `insert into worker_nodes (id, version, concurrency, heartbeat_at)
     values ($1, 'x', 1, now() - $2::interval) returning id`,
    [`host:1:${shortName()}`, ago],
  );
  return row?.id ?? '';
}

const example: Example = {
  async make(platform, { orgId }) {
    await platform.sql(
      `insert into worker_nodes (id, version, concurrency, heartbeat_at)
       values ($1, 'x', 1, now() - interval '1 hour') on conflict do nothing`,
      [SILENT_WORKER],
    );
    await platform.sql(
      `insert into job_failures (job_id, task, attempt, started_at, finished_at, duration_ms, outcome, node_id, org_id)
       values (1, 'example/fail', 1, now(), now(), 1, 'failed', 'example', $1)`,
      [orgId],
    );
  },
  bodies: { 'POST /admin/jobs/bulk': () => ({ action: 'retry', filter: { task: TASK } }) },
  before: {
    'POST /admin/jobs/{id}/retry': async (context) => [`/admin/jobs/${await queued(context)}/retry`],
    'POST /admin/jobs/{id}/cancel': async (context) => [`/admin/jobs/${await queued(context)}/cancel`],
    'POST /admin/jobs/cron/{id}/run': async () => [`/admin/jobs/cron/${encodeURIComponent(TASK)}/run`],
    'POST /admin/jobs/workers/{id}/drain': async (context) => [
      `/admin/jobs/workers/${await worker(context, '0 s')}/drain`,
    ],
    'POST /admin/jobs/workers/{id}/unlock': async (context) => [
      `/admin/jobs/workers/${await worker(context, '1 hour')}/unlock`,
    ],
    'POST /admin/jobs/tasks/{task}/pause': async () => [`${TASK_PATH}/pause`],
    async 'POST /admin/jobs/tasks/{task}/resume'({ platform }) {
      await platform.sql('insert into paused_tasks (task) values ($1) on conflict do nothing', [TASK]);
      return [`${TASK_PATH}/resume`];
    },
  },
  paths: {
    '/admin/jobs/{id}': async (context) => `/admin/jobs/${await queued(context)}`,
    '/admin/jobs/cron/{id}': () => `/admin/jobs/cron/${encodeURIComponent(TASK)}`,
    '/admin/jobs/tasks/{task}': () => TASK_PATH,
    '/admin/jobs/workers/{id}': () => `/admin/jobs/workers/${SILENT_WORKER}`,
  },
  withoutObject: { '/admin/jobs/{id}': 'jobs belong to the installation, and have numbers' },
  // What the platform counts of itself.
  writtenByAnyone: [
    'queue_snapshots',
    'queue_health',
    'domain_queues',
    'job_stats_minute',
    'cron_status',
    'worker_nodes',
  ],
};
export default example;
