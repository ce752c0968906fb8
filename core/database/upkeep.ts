/** What core's own tables need from time to time: the coming days' partitions, and an end to old history. */
import type pg from 'pg';

/** Days of the queue's history and of events that are kept (domain/job-queue-ops, section 2). */
const JOB_RUNS_DAYS = 14;
const EVENTS_DAYS = 30;

/** Makes the partitions of the coming week for every table that lies in days. At each start, and hourly. */
export async function makePartitions(pool: pg.Pool): Promise<void> {
  await pool.query('select ensure_partitions_ahead(7)');
}

/** Drops and prunes what is past its time; some at a time, the rest with the next call. */
export async function pruneHistory(pool: pg.Pool): Promise<void> {
  await pool.query(`select drop_daily_partitions('job_runs', $1)`, [JOB_RUNS_DAYS]);
  await pool.query(
    `delete from events where id in (
       select id from events where occurred_at < now() - make_interval(days => $1) order by occurred_at limit 20000)`,
    [EVENTS_DAYS],
  );
  await pool.query(
    `delete from idempotency_keys where (caller, route, key) in (
       select caller, route, key from idempotency_keys where created_at < now() - interval '24 hours' limit 20000)`,
  );
}
