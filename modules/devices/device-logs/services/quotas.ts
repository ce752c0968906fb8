/** The hourly quota of events for a device. */

import { MAX_SYSTEM_EVENTS } from '#agent-protocol';
import { type Context, errors } from '#core';

/** One full body: a device that has sent it waits for the next hour. */
const MOST_AN_HOUR = MAX_SYSTEM_EVENTS;

// reach: the agent's own device, which its token names
const TAKE = `
insert into device_event_quotas as q (device_id, org_id, hour, entries)
select id, org_id, date_trunc('hour', clock_timestamp()), $2 from devices where id = $1
on conflict (device_id) do update set hour = greatest(q.hour, excluded.hour),
  entries = case when q.hour < excluded.hour then 0 else q.entries end + excluded.entries
where q.hour < excluded.hour or q.entries + excluded.entries <= $3`;

/**
 * Counts the entries and locks the quota of the device until the transaction ends, so that two bodies of one device are never
 * processed at once. Throws RATE_LIMITED with the seconds to the next hour, NOT_FOUND for a device that no longer exists.
 */
export async function takeTurn(ctx: Context, deviceId: string, entries: number): Promise<void> {
  const { rowCount } = await ctx.sql(TAKE, [deviceId, entries, MOST_AN_HOUR], 'device-logs-turn');
  if (rowCount === 1) return;
  // reach: the agent's own device, which its token names
  const known = await ctx.sql('select from devices where id = $1', [deviceId]);
  if (known.rowCount === 0) throw errors.NotFound('Device not found');
  const retryAfter = Math.ceil((3_600_000 - (Date.now() % 3_600_000)) / 1000);
  throw errors.RateLimited({
    message: `At most ${MOST_AN_HOUR} events an hour`,
    beside: { retryAfter },
    headers: { 'retry-after': String(retryAfter) },
  });
}
