/** Reads the whole queue every 15 s, once for all processes; every other figure is read from this snapshot. */
import type { Context } from '#core';
import { stuckAfter } from './figures.ts';

interface Counts {
  task: string;
  ready: number;
  blocked: number;
  delayed: number;
  locked: number;
  retrying: number;
  failed: number;
  cancelled: number;
  oldest_ready_at: Date | null;
  oldest_locked_at: Date | null;
  held: { lockedAt: string; lockedBy: string }[];
  put_off: number[] | null;
}

/** With more ready jobs of one tenant than this, code that adds jobs is notified. */
const BACKLOG = 50;
const LOCK = 7_203_417;

/** False when another process has just taken one. Takes at most 2 s: a missing snapshot is better than a slow queue. */
export async function takeSnapshot(ctx: Context, everySeconds = 15): Promise<boolean> {
  const { rows: mine } = await ctx.sql<{ turn: boolean }>(
    `select pg_try_advisory_xact_lock($1) and not exists (
       select from queue_snapshots where at > now() - make_interval(secs => $2)) as turn`,
    [LOCK, everySeconds - 2],
  );
  if (!mine[0]?.turn) return false;
  await ctx.sql(`set local statement_timeout = '2s'`);
  const limits = await stuckAfter(ctx);
  const { rows } = await ctx.sql<Counts>('select * from queue_counts()');
  const { rows: nodes } = await ctx.sql<{ id: string }>(
    `select unnest(worker_ids) as id from worker_nodes
     where state in ('running', 'draining') and heartbeat_at > now() - interval '20 seconds'`,
  );
  const alive = new Set(nodes.map(({ id }) => id));
  const now = Date.now();
  const counted = rows.map(({ held, put_off, ...counts }) => ({
    ...counts,
    stuck: held.filter(
      ({ lockedAt, lockedBy }) => !alive.has(lockedBy) || now - Date.parse(lockedAt) > (limits[counts.task] ?? 600_000),
    ).length,
  }));
  await ctx.sql(
    `insert into queue_snapshots (at, task, ready, blocked, delayed, locked, retrying, failed, cancelled, stuck,
       oldest_ready_at, oldest_locked_at)
     select now(), coalesce(task, ''), coalesce(sum(ready), 0), coalesce(sum(blocked), 0), coalesce(sum(delayed), 0),
       coalesce(sum(locked), 0), coalesce(sum(retrying), 0), coalesce(sum(failed), 0), coalesce(sum(cancelled), 0),
       coalesce(sum(stuck), 0), min(oldest_ready_at), min(oldest_locked_at)
     from jsonb_to_recordset($1::jsonb) s(task text, ready int, blocked int, delayed int, locked int, retrying int,
       failed int, cancelled int, stuck int, oldest_ready_at timestamptz, oldest_locked_at timestamptz)
     group by grouping sets ((task), ())`,
    [JSON.stringify(counted)],
  );
  const ready = counted.reduce((sum, counts) => sum + counts.ready + counts.blocked, 0);
  await ctx.sql('delete from queue_lanes');
  if (ready > BACKLOG) {
    await ctx.sql('insert into queue_lanes (org_id, waiting) select org_id, waiting from queue_backlogs($1)', [
      BACKLOG,
    ]);
  }
  // Their worker died after it deferred them and before it could return the attempt.
  const lost = rows.flatMap(({ put_off }) => put_off ?? []);
  if (lost.length > 0) await ctx.sql('select queue_retry($1, now(), true)', [lost]);
  return true;
}
