/** The state of the queue at a glance, from the last snapshot and the counts by minute: two queries regardless of its size. */
import { type Context, percentile } from '#core';
import type { Level } from '../models/health.ts';
import { DOMAIN_COLUMNS } from './domain-queues.ts';
import { figuresOf, rates, together } from './watching/figures.ts';
import { minutesOf } from './watching/windows.ts';

interface Problem {
  rule: string;
  subject: string;
  level: Level;
  detail: string;
  since: string;
}
interface Seen {
  nodes: Record<string, number>;
  problems: Problem[];
  domainQueues: object[];
}

const SEEN = `
  select coalesce(s.ready, 0) as ready, coalesce(s.blocked, 0) as blocked, coalesce(s.delayed, 0) as delayed,
    coalesce(s.locked, 0) as running, coalesce(s.retrying, 0) as retrying, coalesce(s.failed, 0) as failed,
    coalesce(s.cancelled, 0) as cancelled, coalesce(s.stuck, 0) as stuck,
    extract(epoch from now() - s.oldest_ready_at)::float8 as "oldestReadyAgeSec", s.at as "snapshotAt",
    (select json_build_object(
        'running', count(*) filter (where state = 'running' and fresh),
        'draining', count(*) filter (where state = 'draining' and fresh),
        'lost', count(*) filter (where state = 'lost' or (state in ('running', 'draining') and not fresh)),
        'slots', coalesce(sum(concurrency) filter (where state = 'running' and fresh), 0),
        'busy', coalesce(sum(active_jobs) filter (where fresh and state <> 'stopped'), 0))
      from (select *, heartbeat_at > now() - interval '20 seconds' as fresh from worker_nodes
        where heartbeat_at > now() - interval '1 day') n) as nodes,
    coalesce((select json_agg(h) from (select rule, subject, level, detail, since from queue_health
      where level <> 'ok' order by level, since limit 50) h), '[]') as problems,
    coalesce((select json_agg(d) from (select ${DOMAIN_COLUMNS} from domain_queues
      where counted_at > now() - interval '1 day' order by name) d), '[]') as "domainQueues"
  from (values (1)) one
  left join lateral (select * from queue_snapshots where task = ''
    and at = (select max(at) from queue_snapshots)) s on true`;

export async function overview(ctx: Context, window: string): Promise<object> {
  const minutes = minutesOf(window);
  const all = together(await figuresOf(ctx, minutes));
  const { rows } = await ctx.sql<Seen>(SEEN, [], 'jobs-overview');
  const { problems = [], ...seen } = rows[0] ?? {};
  const level = problems.some((one) => one.level === 'critical') ? 'critical' : problems.length > 0 ? 'warn' : 'ok';
  return {
    ...seen,
    ...rates(all, minutes),
    p95LatencyMs: percentile(all.waits, 0.95),
    p95DurationMs: percentile(all.durations, 0.95),
    health: { level, problems },
  };
}
