/** The retention of logs. Platform role. */
import type { Context } from '#core';
import { variables } from '../variables.ts';

const MAX_DELETED_ROWS = 20_000;

/** Creates the partitions of the coming week, so that each day has one before its first line. */
export async function makeDays(ctx: Context): Promise<void> {
  await ctx.sql('select ensure_partitions_ahead(7)');
}

/** Drops whole days: diagnostic logs after AGENT_LOG_RETENTION_DAYS, events without an id after EVENT_LOG_RETENTION_DAYS. */
export async function dropOldDays(ctx: Context): Promise<void> {
  await ctx.sql(`select drop_daily_partitions('agent_logs', $1)`, [variables.of(ctx.services.config).logRetentionDays]);
  await ctx.sql(`select drop_daily_partitions('device_event_entries', $1)`, [
    variables.of(ctx.services.config).eventRetentionDays,
  ]);
}

/** Counted events are not partitioned by day, so this deletes some that have not recurred, by an index of each device. */
export async function pruneEvents(ctx: Context): Promise<void> {
  // reach: retention by the platform role, for all organizations
  await ctx.sql(
    `delete from device_event_logs where id in (
       select old.id from devices d cross join lateral (
         select id from device_event_logs e
         where e.device_id = d.id and e.last_occurred_at < now() - make_interval(days => $1)
         order by e.last_occurred_at limit 1000) old
       limit $2)`,
    [variables.of(ctx.services.config).eventRetentionDays, MAX_DELETED_ROWS],
  );
}
