/** The operators' page with 1,000,000 rows of history and 100,000 queued jobs: the overview, and what stands beside it. */
import { systemUser } from '#test';
import { request } from '../request.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const HISTORY = 1_000_000;
const QUEUED = 100_000;

export const scenario: Scenario = {
  title: `${HISTORY} rows of history, ${QUEUED} queued jobs: ms an answer`,
  async run(ground) {
    const { orgId } = await ground.tenant();
    const admin = await systemUser(ground);
    const tasks = [
      'audit/prune-organization',
      'devices/purge-device',
      'users/send-invitation',
      'custom-fields/purge-values',
    ];
    await ground.sql(
      `insert into job_runs (job_id, task, attempt, started_at, finished_at, duration_ms, outcome, node_id, org_id, wait_ms,
         error_message, error_fingerprint)
       select n, ($2::text[])[1 + n % 4], 1, t, t, n % 900, case when n % 500 = 0 then 'failed' else 'success' end, 'bench', $3,
         n % 40, case when n % 500 = 0 then 'fault' end, case when n % 500 = 0 then md5((n % 20000)::text) end
       from generate_series(1, $1::int) n, lateral (select now() - make_interval(secs => n * 0.08) as t) at`,
      [HISTORY, tasks, orgId],
    );
    await ground.sql(
      `insert into job_stats_minute select m, task, node, 30, 29, 0, 1, 9000, 900, 900, 40,
         array[0,0,5,10,5,5,5,0,0,0,0,0,0,0,0,0,0,0], array[5,10,10,5,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
       from generate_series(date_trunc('minute', now()) - interval '22 hours', date_trunc('minute', now()), '1 minute') m,
         unnest($1::text[]) task, unnest('{a,b,c}'::text[]) node`,
      [tasks],
    );
    await ground.sql(
      `select count(graphile_worker.add_job(($2::text[])[1 + n % 4], json_build_object('orgId', $3::text, 'data', '{}'::json),
         run_at := now() + interval '1 day' * (n % 2), flags := array['org:' || $3, 'task:' || ($2::text[])[1 + n % 4]]))
       from generate_series(1, $1::int) n`,
      [QUEUED, tasks, orgId],
    );
    await ground.sql('vacuum analyze');
    const base = await ground.api();
    const token = { authorization: `Bearer ${admin.token}` };
    const requests = request(base, 1);
    const get = async (path: string) => {
      const status = await requests.send('GET', `/api/v1/admin/jobs${path}`, token);
      if (status !== 200) throw new Error(`${path}: ${status}`);
    };
    // The first snapshot is there 15 s after the start.
    while ((await ground.sql('select 1 from queue_snapshots')).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 200));
    const figures: Record<string, number> = {};
    for (const path of [
      '/overview',
      '/overview?window=1d',
      '/tasks',
      '?cursor=',
      '?state=failed&cursor=',
      '/failures',
      '/runs?cursor=',
      '/cron',
      '/workers',
    ]) {
      const { p50, p99 } = await drive(Math.min(ground.seconds, 3), 1, () => get(path));
      figures[`${path} p50`] = rounded(p50);
      figures[`${path} p99`] = rounded(p99);
    }
    const begin = performance.now();
    await ground.sql('select count(*) from queue_counts()');
    figures['one snapshot of the queue'] = rounded(performance.now() - begin);
    await requests.close();
    return figures;
  },
};
