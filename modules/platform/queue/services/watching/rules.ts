/** The health rules: the finding of each, from snapshots and counts by minute. */
import type { Context } from '#core';
import type { Finding, Rule } from '../../models/health.ts';
import { allSchedules } from '../schedules.ts';

/** Seconds that a rule must have the same finding before its level changes: up, and down. */
export const RAISE_AFTER: Record<Rule, number> = {
  oldest_ready: 45,
  failures: 0,
  no_worker: 0,
  cron_late: 45,
  outbox: 45,
  stuck: 600,
  snapshot: 45,
};
export const CLEAR_AFTER = 110;

interface Seen {
  snapshotAgeSec: number | null;
  stuck: number;
  heartbeatAgeSec: number | null;
  outboxAgeSec: number | null;
  late: { task: string; ageSec: number }[];
  failing: { task: string; failed: number }[];
}

const minutes = (seconds: number) => `${Math.round(seconds / 60)} min`;
const lateAfter = (interactive: boolean) => (interactive ? 10 : 60);

/** All findings that are not ok. */
export async function findings(ctx: Context): Promise<Finding[]> {
  const { rows } = await ctx.sql<Seen>(
    `select extract(epoch from now() - l.at)::float8 as "snapshotAgeSec",
       coalesce((select stuck from queue_snapshots where at = l.at and task = ''), 0) as stuck,
       (select extract(epoch from now() - max(heartbeat_at))::float8 from worker_nodes) as "heartbeatAgeSec",
       (select extract(epoch from now() - (entry ->> 'at')::timestamptz)::float8 from audit_outbox order by id limit 1)
         as "outboxAgeSec",
       coalesce((select json_agg(json_build_object('task', task, 'ageSec', extract(epoch from at - oldest_ready_at)))
         from queue_snapshots where at = l.at and task <> '' and oldest_ready_at < at - interval '10 seconds'), '[]') as late,
       coalesce((select json_agg(f) from (select task, sum(failed)::int as failed from job_stats_minute
         where minute > now() - interval '10 minutes' group by task having sum(failed) > 20) f), '[]') as failing
     from (select max(at) as at from queue_snapshots) l`,
  );
  const [seen] = rows;
  if (!seen) return [];
  return [...platformFindings(seen), ...taskFindings(ctx, seen), ...(await scheduleFindings(ctx, seen))];
}

function platformFindings({ heartbeatAgeSec, outboxAgeSec, stuck, snapshotAgeSec }: Seen): Finding[] {
  const found: Finding[] = [];
  const add = (rule: Rule, level: Finding['level'], detail: string) => found.push({ rule, subject: '', level, detail });
  // An installation that never had a worker is still being set up.
  if (heartbeatAgeSec !== null && heartbeatAgeSec > 60)
    add('no_worker', 'critical', `No worker for ${minutes(heartbeatAgeSec)}`);
  if ((outboxAgeSec ?? 0) > 60) add('outbox', 'critical', `The audit outbox is ${minutes(outboxAgeSec ?? 0)} behind`);
  if (stuck > 0) add('stuck', 'warn', `${stuck} jobs are stuck`);
  if (snapshotAgeSec !== null && snapshotAgeSec > 120)
    add('snapshot', 'warn', `The queue could not be counted for ${minutes(snapshotAgeSec)}`);
  return found;
}

function taskFindings(ctx: Context, { late, failing }: Seen): Finding[] {
  const interactive = new Set(ctx.services.tasks().flatMap((task) => (task.interactive ? [task.name] : [])));
  const behind = late.filter(({ task, ageSec }) => ageSec > lateAfter(interactive.has(task)));
  return [
    ...behind.map(({ task, ageSec }) => ({
      rule: 'oldest_ready' as const,
      subject: task,
      level: ageSec > 600 ? ('critical' as const) : ('warn' as const),
      detail: `The oldest job that could run has waited ${Math.round(ageSec)} s`,
    })),
    ...failing.map(({ task, failed }) => ({
      rule: 'failures' as const,
      subject: task,
      level: 'warn' as const,
      detail: `${failed} jobs failed for good within 10 min`,
    })),
  ];
}

/** Without a worker all schedules are late: that is one problem, not fifty. */
async function scheduleFindings(ctx: Context, { heartbeatAgeSec }: Seen): Promise<Finding[]> {
  if (heartbeatAgeSec === null || heartbeatAgeSec > 60) return [];
  const schedules = await allSchedules(ctx);
  return schedules.flatMap(({ identifier, latenessSec, periodSec }) =>
    periodSec !== null && latenessSec > Math.max(2 * periodSec, 120)
      ? [
          {
            rule: 'cron_late',
            subject: identifier,
            level: 'warn',
            detail: `It is ${minutes(latenessSec)} late`,
          } as const,
        ]
      : [],
  );
}
