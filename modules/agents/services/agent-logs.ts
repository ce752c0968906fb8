/** Stores what agents write about themselves: redacted, with clocks that run ahead set right. */
import { type Context, errors, redact } from '#core';
import type { LogEntry } from '../models/agent-log.ts';
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
