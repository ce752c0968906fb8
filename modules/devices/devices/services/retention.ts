/** How long the history of devices is kept. Platform role. */
import type { Context } from '#core';

/** Rows of one table that one run deletes; the next run deletes more. */
const MAX_ROWS = 10_000;
const RETENTION_DAYS = 90;
/** Tables, and the column with the age of a row. */
const HISTORY = [
  { table: 'device_changes', age: 'at' },
  { table: 'device_ip_history', age: 'last_seen_at' },
];

export async function pruneHistory(ctx: Context): Promise<void> {
  for (const { table, age } of HISTORY) {
    // reach: retention by the platform role, for all organizations
    await ctx.sql(
      `delete from ${table} where id in (select id from ${table}
         where ${age} < now() - make_interval(days => ${RETENTION_DAYS}) order by ${age} limit ${MAX_ROWS})`,
    );
  }
}
