/** What becomes of logs when their device moves, is merged into another, or is purged. Platform role. */
import type { Context } from '#core';

/**
 * The old organization keeps its logs. Counted events have a key of device, source and event id, which the new organization
 * needs for its own: they become plain entries of the day, which keep the id and the count in their details.
 */
export async function leaveLogs(ctx: Context, deviceId: string): Promise<void> {
  await ctx.sql(
    `with counted as (delete from device_event_logs where device_id = $1 returning *)
     insert into device_event_entries (device_id, org_id, timestamp, reported_at, level, category, source, message, details,
       digest)
     select device_id, org_id, last_occurred_at, reported_at, level, category, source, message,
       coalesce(details, '{}') || jsonb_build_object('eventId', event_id, 'occurrenceCount', occurrence_count),
       hashtextextended(id::text, 0)
     from counted`,
    [deviceId],
  );
  await ctx.sql('delete from device_event_quotas where device_id = $1', [deviceId]);
}

/** Counted events of one key are added up. */
export async function mergeLogs(
  ctx: Context,
  { orgId, fromDeviceId, intoDeviceId }: { orgId: string; fromDeviceId: string; intoDeviceId: string },
): Promise<void> {
  const values = [fromDeviceId, intoDeviceId, orgId];
  for (const table of ['agent_logs', 'device_event_entries']) {
    await ctx.sql(`update ${table} set device_id = $2 where device_id = $1 and org_id = $3`, values);
  }
  await ctx.sql(
    `with old as (delete from device_event_logs where device_id = $1 and org_id = $3 returning *)
     insert into device_event_logs as e (device_id, org_id, timestamp, reported_at, level, category, source, event_id,
       message, details, created_at, occurrence_count, last_occurred_at, last_reported_at)
     select $2, org_id, timestamp, reported_at, level, category, source, event_id, message, details, created_at,
       occurrence_count, last_occurred_at, last_reported_at from old
     on conflict (device_id, source, event_id) do update set
       occurrence_count = e.occurrence_count + excluded.occurrence_count,
       last_occurred_at = greatest(e.last_occurred_at, excluded.last_occurred_at)`,
    values,
  );
}

/** Some rows of each table; the most that any of them lost. */
export async function purgeLogs(ctx: Context, deviceId: string, most: number): Promise<number> {
  let gone = 0;
  for (const table of ['agent_logs', 'device_event_entries', 'device_event_logs']) {
    const { rowCount } = await ctx.sql(
      `delete from ${table} where device_id = $1
         and (tableoid, ctid) in (select tableoid, ctid from ${table} where device_id = $1 limit $2)`,
      [deviceId, most],
    );
    gone = Math.max(gone, rowCount ?? 0);
  }
  return gone;
}
