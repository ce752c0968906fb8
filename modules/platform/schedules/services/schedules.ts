/** Setting and removing schedules, within the transaction of their owners. */
import { type Context, nextOccurrence } from '#core';
import type { Schedule, ScheduleOwner } from '../models/schedule.ts';

const SET = `
insert into schedules (kind, owner_id, name, zone, org_id, partner_id, recurrence, catch_up, jitter_seconds, starts_at, ends_at,
  slot, run_at)
select $1, $2, $3, s.zone, $4, $5, $6::jsonb, $7, $8, $9, $10, s.slot, s.slot + make_interval(secs => random() * $8::integer)
from unnest($11::text[], $12::timestamptz[]) s (zone, slot)
on conflict (kind, owner_id, name, zone) do update set recurrence = excluded.recurrence, catch_up = excluded.catch_up,
  jitter_seconds = excluded.jitter_seconds, starts_at = excluded.starts_at, ends_at = excluded.ends_at,
  slot = excluded.slot, run_at = excluded.run_at
-- What has not changed keeps its next occurrence, also one that is due and not handed out yet.
where (schedules.recurrence, schedules.jitter_seconds, schedules.starts_at, schedules.ends_at)
  is distinct from (excluded.recurrence, excluded.jitter_seconds, excluded.starts_at, excluded.ends_at)
  or schedules.catch_up <> excluded.catch_up`;

/**
 * Makes the schedule, or changes it. What lies in the past does not come: a changed schedule goes on with its next occurrence
 * from now. Zones that are not named any more are removed. Two statements.
 */
export async function setSchedule(ctx: Context, owner: ScheduleOwner, schedule: Schedule): Promise<void> {
  const { kind, ownerId, name = '', recurrence, zones, catchUp, jitterSeconds = 0, startsAt, endsAt } = schedule;
  const now = new Date();
  const slots = zones.map((zone) => slotAfter(schedule, zone, now));
  await ctx.sql('delete from schedules where kind = $1 and owner_id = $2 and name = $3 and zone <> all ($4::text[])', [
    ...[kind, ownerId, name, zones],
  ]);
  await ctx.sql(SET, [
    ...[kind, ownerId, name, owner.orgId ?? null, owner.partnerId ?? null, JSON.stringify(recurrence), catchUp],
    ...[jitterSeconds, startsAt ?? null, endsAt ?? null, zones, slots],
  ]);
}

/** Removes all schedules of an object, or those of one kind that are not named. */
export async function removeSchedules(
  ctx: Context,
  { kind, ownerId, except = [] }: { kind: string; ownerId: string; except?: readonly string[] },
): Promise<void> {
  await ctx.sql('delete from schedules where kind = $1 and owner_id = $2 and name <> all ($3::text[])', [
    ...[kind, ownerId, except],
  ]);
}

/** When each of these objects comes round next; those that do not any more are missing. */
export async function nextRuns(ctx: Context, kind: string, ownerIds: readonly string[]): Promise<Map<string, Date>> {
  const { rows } = await ctx.sql<{ ownerId: string; slot: Date }>(
    `select owner_id as "ownerId", min(slot) as slot from schedules
     where kind = $1 and owner_id = any ($2::uuid[]) and slot is not null group by owner_id`,
    [kind, ownerIds],
  );
  return new Map(rows.map(({ ownerId, slot }) => [ownerId, slot]));
}

/** The first occurrence after the moment and within the schedule's own bounds. */
export function slotAfter(
  { recurrence, startsAt, endsAt }: Pick<Schedule, 'recurrence' | 'startsAt' | 'endsAt'>,
  zone: string,
  after: Date,
): Date | null {
  // An occurrence at the very moment of the beginning counts.
  const from = startsAt && startsAt > after ? new Date(startsAt.getTime() - 1) : after;
  const slot = nextOccurrence(recurrence, zone, from);
  return slot && endsAt && slot > endsAt ? null : slot;
}
