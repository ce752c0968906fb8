/** Stores and lists the diagnostic logs of agents. */
import { type Context, errors } from '#core';
import type { LogQuery, ReceivedLogEntry } from '../models/agent-log.ts';
import { clockOf } from './clocks.ts';
import { cursorForm, EARLY } from './paging.ts';
import { redactLine, redactMetadata } from './redactions.ts';

const ROWS_PER_STATEMENT = 100;
// The organization comes from the row of the device; without the row no line is stored.
// reach: the agent's own device, which its token names
const STORE = `
insert into agent_logs (device_id, org_id, timestamp, reported_at, level, component, message, fields, agent_version)
select d.id, d.org_id, r.* from devices d cross join unnest($2::timestamptz[], $3::timestamptz[], $4::text[], $5::text[],
  $6::text[], $7::jsonb[], $8::text[]) r where d.id = $1`;

/** The id of the calling device, which agent routes always have. */
export function callingDevice(ctx: Context): string {
  const { deviceId } = ctx.scope;
  if (!deviceId) throw errors.Unauthenticated();
  return deviceId;
}

/** Inserts in batches of 100 rows, all of a body or none. Throws NOT_FOUND for a device that no longer exists. */
export async function storeLogs(ctx: Context, logs: ReceivedLogEntry[]): Promise<{ received: number }> {
  const deviceId = callingDevice(ctx);
  const clock = clockOf(logs.length);
  for (let from = 0; from < logs.length; from += ROWS_PER_STATEMENT) {
    const rows = logs.slice(from, from + ROWS_PER_STATEMENT);
    const times = rows.map(({ timestamp }, index) => clock(timestamp, from + index));
    const { rowCount } = await ctx.sql(
      STORE,
      [
        deviceId,
        times.map(({ at }) => at),
        times.map(({ at, said }) => (at === said ? null : said)),
        rows.map(({ level }) => level),
        rows.map(({ component }) => component),
        rows.map(({ message }) => redactLine(message)),
        rows.map(({ fields }) => redactMetadata(fields)),
        rows.map(({ agentVersion }) => agentVersion ?? null),
      ],
      'device-logs-store',
    );
    if (rowCount === 0) throw errors.NotFound('Device not found');
  }
  return { received: logs.length };
}

const FIELDS = `id, device_id as "deviceId", org_id as "orgId", timestamp, level, component, message, fields,
  agent_version as "agentVersion", created_at as "createdAt", reported_at as "reportedAt"`;
// A line is at most ten minutes ahead of its arrival, so older partitions need not be read.
const filter = (
  message: string,
) => `device_id = $1 and ($2::text[] is null or level = any($2)) and ($3::text is null or component = $3)
  and ($4::timestamptz is null or timestamp >= $4 and created_at >= $4::timestamptz - interval '${EARLY}')
  and ($5::timestamptz is null or timestamp <= $5) and ($6::text is null or ${message} ilike $6)`;

/** Lines of a device within the caller's reach, newest first. Throws NOT_FOUND for any other device. */
export async function listLogs(ctx: Context, deviceId: string, query: LogQuery) {
  await ctx.use('devices').mustExist(deviceId);
  const values = [
    deviceId,
    query.level?.split(',') ?? null,
    query.component ?? null,
    query.since ?? null,
    query.until ?? null,
    query.search ? `%${query.search.replace(/[\\%_]/g, '\\$&')}%` : null,
  ];
  // Comparing bytes is faster, and equivalent for ASCII text.
  const where = filter(/^[ -~]*$/.test(query.search ?? '') ? 'message collate "C"' : 'message');
  const { limit } = query;
  if (query.cursor !== undefined) {
    return cursorForm(ctx, {
      // reach: mustExist above checks the device
      order: 'diagnostic-logs',
      cursor: query.cursor,
      limit,
      values,
      select: (after, most) => `select ${FIELDS}, timestamp::text as "sort" from agent_logs
        where ${where} ${after('timestamp')} order by timestamp desc, id desc limit ${most}`,
    });
  }
  const offset = ((query.page ?? 1) - 1) * limit;
  // reach: mustExist above checks the device
  const logs = await ctx.sql(
    `select ${FIELDS} from agent_logs where ${where} order by timestamp desc, id desc limit $7 offset $8`,
    [...values, limit, offset],
  );
  // The total follows from a page that is not full, which saves counting.
  if (logs.rows.length < limit && (logs.rows.length > 0 || offset === 0)) {
    return { logs: logs.rows, total: offset + logs.rows.length, limit, offset };
  }
  // reach: mustExist above checks the device
  const count = await ctx.sql<{ total: number }>(`select count(*) as total from agent_logs where ${where}`, values);
  return { logs: logs.rows, total: count.rows[0]?.total ?? 0, limit, offset };
}
