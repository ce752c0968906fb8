/** Samples: stored by the group commit of heartbeats, and read back for the last day. */
import type { Context } from '#core';
import { AVERAGES, FROM_HEARTBEAT, HEARTBEAT_RECORD, SAMPLED } from './metric-columns.ts';

/** Part of the heartbeat statement of devices (slot `devices.metrics`): one row for each heartbeat that carries metrics. */
export const INSERT_SAMPLES = `
insert into device_metrics (device_id, ts, org_id, ${SAMPLED})
select o.device_id, b.at, o.org_id, ${FROM_HEARTBEAT}
from old o join b on b.device_id = o.device_id cross join lateral jsonb_to_record(b.metrics) as ${HEARTBEAT_RECORD}
where b.metrics is not null and b.at between now() - interval '1 day' and now() + interval '1 day'
on conflict do nothing`;

// A day in buckets of five minutes: at most 288 points, whatever the interval of the heartbeats.
const RECENT = `
select date_bin('5 minutes', ts, 'epoch') as at, ${AVERAGES}
from device_metrics
where device_id = $1 and ($2::uuid[] is null or org_id = any($2::uuid[]))
  and ts > date_bin('5 minutes', now(), 'epoch') - interval '1435 minutes' and ts <= now()
group by 1 order by 1`;

/** The last 24 hours of a device that the caller reaches, of the caller's organizations. */
export async function readRecent(ctx: Context, deviceId: string): Promise<object[]> {
  return (await ctx.sql<object>(RECENT, [deviceId, ctx.scope.orgIds], 'device-metrics-recent')).rows;
}
