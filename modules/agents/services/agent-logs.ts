/** Stores what agents write about themselves: redacted, with clocks that run ahead set right. */
import { type Context, errors, redact } from '#core';
import { type LogEntry, type LogQuery, MOST_LISTED } from '../models/agent-log.ts';
import { storable } from '../models/wire-values.ts';
import { callingDevice } from './commands.ts';

const AHEAD_MS = 600_000;
const ROWS = 100;
/** `token=…`, `password: …`, `Authorization: Bearer …` and tokens by their own form, inside free text. */
const SECRETS =
  /\b(svc_[A-Za-z0-9_-]{16,}|(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,})|\b((?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',;]+/gi;

/** Takes secrets out of a line of text. */
export function redactLine(line: string): string {
  return line.replace(SECRETS, (_match, _token, label?: string) => `${label ?? ''}[REDACTED]`);
}

function toRow(entry: LogEntry, now: number) {
  const said = entry.timestamp.getTime();
  return {
    timestamp: new Date(said > now + AHEAD_MS ? now : said).toISOString(),
    level: entry.level,
    component: entry.component,
    message: redactLine(entry.message),
    fields: entry.fields ? redact(storable(entry.fields)) : null,
    agentVersion: entry.agentVersion ?? null,
  };
}

/** Inserts in batches of 100 rows; a timestamp more than ten minutes ahead becomes the present. */
export async function storeLogs(ctx: Context, logs: LogEntry[]): Promise<{ received: number }> {
  const { orgId } = ctx.scope;
  if (!orgId) throw errors.Unauthenticated();
  const now = Date.now();
  for (let from = 0; from < logs.length; from += ROWS) {
    const rows = logs.slice(from, from + ROWS).map((entry) => toRow(entry, now));
    await ctx.sql(
      `insert into agent_logs (device_id, org_id, timestamp, level, component, message, fields, agent_version)
       select $1, $2, timestamp, level, component, message, fields, "agentVersion"
       from jsonb_to_recordset($3::jsonb) r (timestamp timestamptz, level text, component text, message text,
         fields jsonb, "agentVersion" text)`,
      [callingDevice(ctx), orgId, JSON.stringify(rows)],
      'agents-store-logs',
    );
  }
  return { received: logs.length };
}

const LOG_FIELDS = `id, device_id as "deviceId", org_id as "orgId", timestamp, level, component, message, fields,
  agent_version as "agentVersion", created_at as "createdAt"`;
const FILTER = `device_id = $1 and ($2::text[] is null or level = any($2)) and ($3::text is null or component = $3)
  and ($4::timestamptz is null or timestamp >= $4) and ($5::timestamptz is null or timestamp <= $5)
  and ($6::text is null or message ilike $6)`;

/** Lines of a device within the caller's reach, newest first. Throws NOT_FOUND for any other device. */
export async function listLogs(ctx: Context, deviceId: string, query: LogQuery) {
  await ctx.use('devices').mustExist(deviceId);
  const limit = Math.min(query.limit, MOST_LISTED);
  const offset = (query.page - 1) * limit;
  const pattern = query.search ? `%${query.search.replace(/[\\%_]/g, '\\$&')}%` : null;
  const values = [
    deviceId,
    query.level?.split(',') ?? null,
    query.component ?? null,
    query.since ?? null,
    query.until ?? null,
    pattern,
  ];
  const logs = await ctx.sql(
    `select ${LOG_FIELDS} from agent_logs where ${FILTER} order by timestamp desc, id desc limit $7 offset $8`,
    [...values, limit, offset],
  );
  const [count] = (await ctx.sql<{ total: number }>(`select count(*) as total from agent_logs where ${FILTER}`, values))
    .rows;
  return { logs: logs.rows, total: count?.total ?? 0, limit, offset };
}
