/** Lists events of the operating system, with and without ids, as one list. */
import type { Context } from '#core';
import type { EventQuery } from '../models/event-log.ts';
import { cursorForm, EARLY } from './paging.ts';

const SHARED = `id, device_id as "deviceId", org_id as "orgId", timestamp, level, category, source, message, details,
  created_at as "createdAt", reported_at as "reportedAt"`;
const FILTER = `device_id = $1 and ($2::text is null or category = $2) and ($3::text is null or level = $3)
  and ($4::text is null or source = $4) and ($6::timestamptz is null or timestamp <= $6)`;
/** A recurring event matches if the requested time overlaps the time from its first to its last occurrence. */
// reach: listEvents checks the device with mustExist
const COUNTED = `from device_event_logs where ${FILTER} and ($5::timestamptz is null or last_occurred_at >= $5)`;
// reach: listEvents checks the device with mustExist
const SINGLE = `from device_event_entries where ${FILTER}
  and ($5::timestamptz is null or timestamp >= $5 and created_at >= $5::timestamptz - interval '${EARLY}')`;

/** Each half is limited to what the page can need, in the order of its own index. */
const both = (after: (time: string) => string, most: number | string) => `
  (select ${SHARED}, event_id as "eventId", occurrence_count as "occurrenceCount", last_occurred_at as "lastOccurredAt"
   ${COUNTED} ${after('last_occurred_at')} order by last_occurred_at desc, id desc limit ${most})
  union all
  (select ${SHARED}, null, 1, timestamp
   ${SINGLE} ${after('timestamp')} order by timestamp desc, id desc limit ${most})`;

/** Events of a device within the caller's reach, by last occurrence, newest first. Throws NOT_FOUND for any other device. */
export async function listEvents(ctx: Context, deviceId: string, query: EventQuery) {
  await ctx.use('devices').mustExist(deviceId);
  const { category, level, source, startDate, endDate, limit } = query;
  const values = [deviceId, category ?? null, level ?? null, source ?? null, startDate ?? null, endDate ?? null];
  if (query.cursor !== undefined) {
    return cursorForm(ctx, {
      order: 'event-logs',
      cursor: query.cursor,
      limit,
      values,
      select: (after, most) => `select e.*, "lastOccurredAt"::text as "sort" from (${both(after, most)}) e
        order by "lastOccurredAt" desc, id desc limit ${most}`,
    });
  }
  const page = query.page ?? 1;
  const { rows } = await ctx.sql(
    `select * from (${both(() => '', '$7::bigint + $8')}) e order by "lastOccurredAt" desc, id desc limit $7 offset $8`,
    [...values, limit, (page - 1) * limit],
  );
  const count = await ctx.sql<{ total: number }>(
    `select (select count(*) ${COUNTED}) + (select count(*) ${SINGLE}) as total`,
    values,
  );
  return { data: rows, pagination: { page, limit, total: count.rows[0]?.total ?? 0 } };
}
