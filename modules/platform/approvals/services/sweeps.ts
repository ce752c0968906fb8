/** Ends what was not decided in time or lost its asker, and what was approved and never carried out. Platform role. */
import type { Context } from '#core';
import { APPROVAL_FIELDS, type Approval } from '../models/approval.ts';
import { MAX_CARRY_OUT_HOURS, note, TOO_LATE } from './conclusions.ts';
import { type Ending, endRequest } from './transitions.ts';

/** Requests ended by one run; the rest comes with the next. */
const BATCH_SIZE = 500;
const RETENTION_DAYS = 365;
const PRUNED_ROWS = 5000;

export async function sweepRequests(ctx: Context): Promise<void> {
  await endAll(ctx, 'r.expires_at <= now()', { status: 'expired' });
  await endAll(
    ctx,
    `not exists (select from users u where u.id = r.asked_by and u.status = 'active')
       or r.asked_key_id is not null and not exists (select from api_keys k where k.id = r.asked_key_id and k.status = 'active')`,
    { status: 'cancelled', reason: 'Who asked for it is not active any more' },
  );
  await endAll(ctx, `exists (select from organizations o where o.id = r.org_id and o.deleted_at is not null)`, {
    status: 'cancelled',
    reason: 'The organization was deleted',
  });
  await endUncarried(ctx);
}

async function endAll(ctx: Context, condition: string, ending: Ending): Promise<void> {
  const { rows } = await ctx.sql<{ id: string }>(
    `select r.id from approval_requests r where r.status = 'pending' and (${condition})
     order by r.expires_at limit ${BATCH_SIZE} for update skip locked`,
  );
  for (const { id } of rows) await endRequest(ctx, id, ending);
}

async function endUncarried(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Approval>(
    `select ${APPROVAL_FIELDS} from approval_requests r
     where r.status = 'approved' and r.concluded_at is null and r.decided_at < now() - make_interval(hours => ${MAX_CARRY_OUT_HOURS})
     order by r.decided_at limit ${BATCH_SIZE} for update skip locked`,
  );
  for (const row of rows) await note(ctx, row, TOO_LATE);
}

/** Removes requests that ended a year ago; true when there may be more. The audit trail keeps the decisions. */
export async function pruneRequests(ctx: Context): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `delete from approval_requests where id in (select id from approval_requests
       where status <> 'pending' and created_at < now() - make_interval(days => ${RETENTION_DAYS})
       order by created_at limit ${PRUNED_ROWS})`,
  );
  return rowCount === PRUNED_ROWS;
}
