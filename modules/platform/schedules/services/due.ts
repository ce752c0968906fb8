/** Handing out what has come round: each occurrence once, also by several workers and after a crash. */
import { type Context, errors } from '#core';
import { LATE_MS, type Occurrence, type Schedule } from '../models/schedule.ts';
import type { ScheduledKind } from '../slots/kind.ts';
import { slotAfter } from './schedules.ts';

const BATCH_SIZE = 500;
/** Of each kind in one run; what is left comes with the next. */
const MAX_BATCHES = 20;

interface Due extends Pick<Schedule, 'recurrence' | 'catchUp' | 'startsAt' | 'endsAt'>, Omit<Occurrence, 'late'> {
  id: string;
  jitterSeconds: number;
}

/** Platform role. A kind that fails does not keep the others from running. Throws when one has failed. */
export async function handOutDue(ctx: Context): Promise<void> {
  const failed: string[] = [];
  for (const kind of ctx.contributions('schedules.kind')) {
    await handOutKind(ctx, kind).catch((err: Error) => {
      ctx.log.error({ err, kind: kind.kind }, 'schedules that are due could not be handed out');
      failed.push(kind.kind);
    });
  }
  if (failed.length > 0) throw new Error(`schedules could not be handed out: ${failed.join(', ')}`);
}

/** Each batch commits by itself. */
export async function handOutKind(ctx: Context, kind: ScheduledKind): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const count = await ctx.asPlatform((own) => handOutBatch(own, kind));
    if (count < BATCH_SIZE) return;
  }
}

/** Three statements and what `due` does: claim, move on, commit. */
async function handOutBatch(ctx: Context, { kind, due }: ScheduledKind): Promise<number> {
  const { rows } = await ctx.sql<Due>(
    `select id, owner_id as "ownerId", name, zone, org_id as "orgId", partner_id as "partnerId", recurrence, catch_up as "catchUp",
       jitter_seconds as "jitterSeconds", starts_at as "startsAt", ends_at as "endsAt", slot
     from schedules where kind = $1 and run_at <= now() order by run_at limit ${BATCH_SIZE} for update skip locked`,
    [kind],
  );
  if (rows.length === 0) return 0;
  const now = new Date();
  const moved = rows.map((row) => ({ id: row.id, slot: row.slot, next: slotAfter(row, row.zone, now) }));
  const { rowCount } = await ctx.sql(
    `update schedules s set last_slot = s.slot, slot = m.next,
       run_at = m.next + make_interval(secs => random() * s.jitter_seconds)
     from jsonb_to_recordset($1::jsonb) m (id uuid, slot timestamptz, next timestamptz)
     where s.id = m.id and s.slot = m.slot`,
    [JSON.stringify(moved)],
  );
  if (rowCount !== rows.length) throw errors.InvalidState('a schedule was changed while it was locked');
  const occurrences = rows.flatMap((row) => occurrenceOf(ctx, kind, row, now));
  if (occurrences.length > 0) await due(ctx, occurrences);
  return rows.length;
}

/** None for one that was missed and is not made up for, and where the module is off. */
function occurrenceOf(ctx: Context, kind: string, row: Due, now: Date): Occurrence[] {
  const { ownerId, name, zone, orgId, partnerId, slot, catchUp, jitterSeconds } = row;
  const late = now.getTime() - slot.getTime() > LATE_MS + jitterSeconds * 1_000;
  if (late && catchUp === 'none') return [];
  const [module = ''] = kind.split('.');
  if (ctx.services.modules.off(module, orgId ? { orgId } : { partnerId })) return [];
  return [{ ownerId, name, zone, orgId, partnerId, slot, late }];
}
