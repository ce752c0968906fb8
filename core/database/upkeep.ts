/** What core's own tables need from time to time: the coming days' partitions, and an end to old history. */
import type pg from 'pg';

/** Days of the queue's history and of events that are kept. */
const JOB_RUNS_DAYS = 14;
const JOB_FAILURES_DAYS = 30;
const SNAPSHOT_DAYS = 2;
const EVENTS_DAYS = 30;
/** As long a copy of a list may lie unused before it has to be fetched anew. */
const CHANGES_DAYS = 30;

/** Makes the partitions of the coming week for every table that lies in days. At each start, and hourly. */
export async function makePartitions(pool: pg.Pool): Promise<void> {
  await pool.query('select ensure_partitions_ahead(7)');
}

/** Notes how far everything is over by now: times become positions in changes by it, to these minutes. */
export async function markHorizon(pool: pg.Pool): Promise<void> {
  await pool.query('insert into sync_horizons default values on conflict do nothing');
}

/** A position is good as long as all changes behind it are there: those go by transactions, up to a horizon of that time. */
async function pruneChanges(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ xid: string | null }>(
    'select max(xid)::text as xid from sync_horizons where at < now() - make_interval(days => $1)',
    [CHANGES_DAYS],
  );
  const xid = rows[0]?.xid;
  if (!xid) return;
  await pool.query('delete from sync_horizons where xid < $1::xid8', [xid]);
  // reach: retention by the platform role, for all organizations
  await pool.query(
    `delete from sync_changes where ctid = any(array(select ctid from sync_changes
       where at < now() - make_interval(days => $1) and xid < $2::xid8 limit 100000))`,
    [CHANGES_DAYS, xid],
  );
}

/** Drops and prunes what is past its time; some at a time, the rest with the next call. */
export async function pruneHistory(pool: pg.Pool): Promise<void> {
  await keepFailures(pool);
  await pruneChanges(pool);
  await pool.query(`select drop_daily_partitions('job_runs', $1), drop_daily_partitions('job_stats_minute', $1)`, [
    JOB_RUNS_DAYS,
  ]);
  await pool.query(
    `delete from queue_snapshots where at in (select distinct at from queue_snapshots
       where at < now() - make_interval(days => $1) order by at limit 500)`,
    [SNAPSHOT_DAYS],
  );
  // reach: retention by the platform role, for all organizations
  await pool.query(
    `delete from events where id in (
       select id from events where occurred_at < now() - make_interval(days => $1)
         and xid < (select min(xid) from sync_horizons) order by occurred_at limit 20000)`,
    [EVENTS_DAYS],
  );
  await pool.query(
    `delete from idempotency_keys where (caller, route, key) in (
       select caller, route, key from idempotency_keys where created_at < now() - interval '24 hours' limit 20000)`,
  );
}

/** Failures are kept longer than successes: they move out of the days that are about to be dropped. */
async function keepFailures(pool: pg.Pool): Promise<void> {
  await pool.query(
    `with old as (
       delete from job_runs where outcome <> 'success'
         and finished_at < (date_trunc('day', now() at time zone 'utc') at time zone 'utc') - make_interval(days => $1)
       returning *)
     insert into job_failures select job_id, task, queue, key, attempt, started_at, finished_at, duration_ms, outcome,
       error_message, error_fingerprint, node_id, org_id, wait_ms, subject_type, subject_id from old`,
    [JOB_RUNS_DAYS],
  );
  await pool.query(
    `delete from job_failures where ctid = any(array(select ctid from job_failures
       where finished_at < now() - make_interval(days => $1) limit 20000))`,
    [JOB_FAILURES_DAYS],
  );
}
