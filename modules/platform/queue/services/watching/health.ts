/** The state of the health rules: a level changes, with a notice, when a rule has had the same finding for long enough. */
import type { Context } from '#core';
import changed from '../../events/health/changed.ts';
import type { Finding, HealthChange, Level } from '../../models/health.ts';
import { CLEAR_AFTER, findings, RAISE_AFTER } from './rules.ts';

interface StoredFinding extends Finding {
  seen: Level;
  seenForSec: number;
}
const LOCK = 7_203_418;
const RANK: Record<Level, number> = { ok: 0, warn: 1, critical: 2 };

/** One round, once for all processes; returns the changes. Each is an event and a mail, in the same transaction. */
export async function judgeHealth(ctx: Context, everySeconds = 60): Promise<HealthChange[]> {
  const { rows: mine } = await ctx.sql<{ turn: boolean }>(
    `select pg_try_advisory_xact_lock($1) and not exists (select from queue_health
       where rule = 'snapshot' and subject = 'round' and seen_since > now() - make_interval(secs => $2)) as turn`,
    [LOCK, everySeconds - 5],
  );
  if (!mine[0]?.turn) return [];
  await ctx.sql(
    `insert into queue_health (rule, subject, level, seen, seen_since, since, detail)
     values ('snapshot', 'round', 'ok', 'ok', now(), now(), 'when the rules were judged last')
     on conflict (rule, subject) do update set seen_since = now()`,
  );
  const now = await findings(ctx);
  const { rows: stored } = await ctx.sql<StoredFinding>(
    `select rule, subject, level, seen, detail, extract(epoch from now() - seen_since)::float8 as "seenForSec"
     from queue_health where not (rule = 'snapshot' and subject = 'round')`,
  );
  const before = new Map(stored.map((row) => [`${row.rule}/${row.subject}`, row]));
  const found = new Map(now.map((finding) => [`${finding.rule}/${finding.subject}`, finding]));
  const changes: HealthChange[] = [];
  for (const key of new Set([...before.keys(), ...found.keys()])) {
    const change = await judge(ctx, before.get(key), found.get(key));
    if (change) changes.push(change);
  }
  for (const change of changes) {
    ctx.emit(changed, change);
    ctx.addJob('queue/send-health-notice', change);
  }
  return changes;
}

/** Stores the finding of one rule; returns the change of level that is due. */
async function judge(
  ctx: Context,
  before: StoredFinding | undefined,
  found: Finding | undefined,
): Promise<HealthChange | null> {
  const rule = found?.rule ?? before?.rule;
  const subject = found?.subject ?? before?.subject;
  if (rule === undefined || subject === undefined) return null;
  const seen = found?.level ?? 'ok';
  const level = before?.level ?? 'ok';
  const same = before?.seen === seen;
  const needed = RANK[seen] > RANK[level] ? RAISE_AFTER[rule] : CLEAR_AFTER;
  const due = seen !== level && (same ? before.seenForSec : 0) >= needed;
  const next = due ? seen : level;
  if (next === 'ok' && seen === 'ok') {
    await ctx.sql('delete from queue_health where rule = $1 and subject = $2', [rule, subject]);
  } else {
    await ctx.sql(
      `insert into queue_health as h (rule, subject, level, seen, seen_since, since, detail)
       values ($1, $2, $3, $4, now(), now(), $5)
       on conflict (rule, subject) do update set level = excluded.level, seen = excluded.seen, detail = excluded.detail,
         seen_since = case when h.seen = excluded.seen then h.seen_since else now() end,
         since = case when h.level = excluded.level then h.since else now() end`,
      [rule, subject, next, seen, found?.detail ?? before?.detail ?? ''],
    );
  }
  return due
    ? { rule, subject, before: level, level: seen, detail: found?.detail ?? 'It is as it should be again' }
    : null;
}
