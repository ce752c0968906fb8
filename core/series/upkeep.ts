/** What series need from time to time: roll-ups, also of what came late, and an end to what is old. Platform role. */
import type pg from 'pg';
import type { Context } from '../context/index.ts';
import type { Sql } from '../context/sql.ts';
import { HOUR, KEPT_DAYS, SERIES } from './ladder.ts';
import { rollUp, rollUpAgain } from './roll-up.ts';

/** Notes of late points that one transaction takes. */
const LATE_BATCH = 50_000;
const TABLES = ['series_points', 'series_5m', 'series_hours', 'series_days'];

/** Rolls up what has come since the last run. Each portion is one transaction: a process that dies loses at most that portion's work. */
export async function rollUpSeries(pool: pg.Pool): Promise<void> {
  for (let more = true; more; ) {
    const client = await pool.connect();
    try {
      const sql: Sql = (text, values) => client.query({ text, values });
      await client.query('begin');
      const isBehind = await rollUp(sql, SERIES);
      more = (await rollUpLate(sql)) || isBehind;
      await client.query('commit');
      client.release();
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  }
}

/** Makes again the hours for which points came late. Returns true where more are noted. Under the lock that `rollUp` holds. */
async function rollUpLate(sql: Sql): Promise<boolean> {
  const { rows } = await sql<{ hour: Date; ids: string[]; notes: number; until: Date }>(
    `with taken as (
       delete from series_late where ctid = any(array(select ctid from series_late limit ${LATE_BATCH})) returning series_id, hour)
     select hour, array_agg(distinct series_id) as ids, count(*)::integer as notes,
       (select rolled_until from series_progress) as until
     from taken group by hour order by hour`,
  );
  for (const { hour, ids, until } of rows) {
    await rollUpAgain(sql, SERIES, { at: hour.getTime(), seconds: HOUR, of: ids, until: until.getTime() });
  }
  return rows.reduce((sum, { notes }) => sum + notes, 0) >= LATE_BATCH;
}

/** Drops whole days of points and roll-ups past their time. */
export async function pruneSeries(pool: pg.Pool): Promise<void> {
  await pool.query(
    `select drop_daily_partitions('series_points', $1), drop_daily_partitions('series_5m', $2), drop_daily_partitions('series_hours', $3)`,
    [KEPT_DAYS.points, KEPT_DAYS.minutes, KEPT_DAYS.hours],
  );
  await pool.query(
    `delete from series_days where ctid = any(array(select ctid from series_days
       where at < now() - make_interval(days => $1) limit 100000))`,
    [KEPT_DAYS.days],
  );
}

/** Deletes at most `maxRows` rows of a source with all its series, and returns how many; 0 when nothing is left. Platform role. */
export async function removeSeries(
  ctx: Context,
  source: { kind: string; id: string },
  maxRows: number,
): Promise<number> {
  let removed = 0;
  for (const table of TABLES) {
    if (removed >= maxRows) return removed;
    const { rowCount } = await ctx.sql(
      `delete from ${table} where (tableoid, ctid) in (select p.tableoid, p.ctid from ${table} p
         join series s on s.id = p.series_id where s.source_kind = $1 and s.source_id = $2 limit $3)`,
      [source.kind, source.id, maxRows - removed],
    );
    removed += rowCount ?? 0;
  }
  if (removed >= maxRows) return removed;
  const { rowCount } = await ctx.sql('delete from series where source_kind = $1 and source_id = $2', [
    source.kind,
    source.id,
  ]);
  return removed + (rowCount ?? 0);
}
