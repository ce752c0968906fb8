/** Changes logs when their device moves, is merged or is purged. Platform role. */
import type { Context } from '#core';

/**
 * The old organization keeps its logs. The key of counted events (device, source, event id) must be free for the new
 * organization, so they become single entries, which have the event id and the count in their details.
 */
export async function leaveLogs(ctx: Context, deviceId: string): Promise<void> {
  // reach: the device is moved, merged or purged, which checked it; platform role
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
  // reach: the device is moved, merged or purged, which checked it; platform role
  await ctx.sql('delete from device_event_quotas where device_id = $1', [deviceId]);
}

/** Adds up the counts of events with the same key. */
export async function mergeLogs(
  ctx: Context,
  { orgId, fromDeviceId, intoDeviceId }: { orgId: string; fromDeviceId: string; intoDeviceId: string },
): Promise<void> {
  const values = [fromDeviceId, intoDeviceId, orgId];
  for (const table of ['agent_logs', 'device_event_entries']) {
    // reach: the device is moved, merged or purged, which checked it; platform role
    await ctx.sql(`update ${table} set device_id = $2 where device_id = $1 and org_id = $3`, values);
  }
  // reach: the device is moved, merged or purged, which checked it; platform role
  await ctx.sql(
    `with same as (
       select o.id as old_id, n.id, o.occurrence_count, o.last_occurred_at
       from device_event_logs o join device_event_logs n on n.device_id = $2 and n.org_id = o.org_id
         and n.source = o.source and n.event_id = o.event_id
       where o.device_id = $1 and o.org_id = $3),
     added as (
       update device_event_logs e set occurrence_count = e.occurrence_count + same.occurrence_count,
         last_occurred_at = greatest(e.last_occurred_at, same.last_occurred_at) from same where e.id = same.id)
     delete from device_event_logs where id in (select old_id from same)`,
    values,
  );
  // reach: the device is moved, merged or purged, which checked it; platform role
  await ctx.sql('update device_event_logs set device_id = $2 where device_id = $1 and org_id = $3', values);
}

/** Deletes a batch of rows from each table; returns the largest number deleted from one of them. */
export async function purgeLogs(ctx: Context, deviceId: string, most: number): Promise<number> {
  let gone = 0;
  for (const table of ['agent_logs', 'device_event_entries', 'device_event_logs']) {
    // reach: the device is moved, merged or purged, which checked it; platform role
    const { rowCount } = await ctx.sql(
      `delete from ${table} where device_id = $1
         and (tableoid, ctid) in (select tableoid, ctid from ${table} where device_id = $1 limit $2)`,
      [deviceId, most],
    );
    gone = Math.max(gone, rowCount ?? 0);
  }
  return gone;
}
