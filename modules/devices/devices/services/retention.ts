/** How long the history of devices is kept. Platform role. */
import type { Context } from '#core';

/** Rows of one table that one transaction deletes. */
const MAX_ROWS = 10_000;
const RETENTION_DAYS = 90;
/** Tables, and the column with the age of a row. */
const HISTORY = [
  { table: 'device_changes', age: 'at' },
  { table: 'device_ip_history', age: 'last_seen_at' },
];

/** True when there may be more to delete. */
export async function pruneHistory(ctx: Context): Promise<boolean> {
  let more = false;
  for (const { table, age } of HISTORY) {
    // reach: retention by the platform role, for all organizations
    const { rowCount } = await ctx.sql(
      `delete from ${table} where id in (select id from ${table}
         where ${age} < now() - make_interval(days => ${RETENTION_DAYS}) order by ${age} limit ${MAX_ROWS})`,
    );
    more ||= (rowCount ?? 0) >= MAX_ROWS;
  }
  return more;
}
