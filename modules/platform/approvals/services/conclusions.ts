/** Tells kinds of the end of their requests, and carries out what was approved: once, in the transaction that notes it. */
import { type AddParameter, AppError, type AuthorNow, authorNow, type Context, reach } from '#core';
import { APPROVAL_FIELDS, type Approval } from '../models/approval.ts';
import type { ApprovalKind } from '../slots/kind.ts';
import { announceOutcome } from './announcements.ts';
import { findKind, holds } from './kinds.ts';
import { isStale, requestOf } from './staleness.ts';

/** What was approved longer ago, because no worker ran, is not carried out any more. */
export const MAX_CARRY_OUT_HOURS = 24;

export interface Outcome {
  outcome: 'done' | 'failed';
  code?: string;
  message?: string;
  result?: Record<string, unknown>;
}
const failed = (code: string, message: string): Outcome => ({ outcome: 'failed', code, message });
export const TOO_LATE = failed('TOO_LATE', `It could not be carried out within ${MAX_CARRY_OUT_HOURS} hours`);

/**
 * In the organization's scope. A second run finds it concluded and does nothing. An error below 500 of what carries it out undoes that and
 * is noted; any other is thrown, so that the job tries again.
 */
export async function concludeRequest(ctx: Context, id: string): Promise<void> {
  try {
    await ctx.asCaller((own) => conclude(own, id));
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const { code, message, details } = error;
    await ctx.asCaller(async (own) => {
      const row = await hold(own, id);
      if (!row) return;
      const result = details.length > 0 ? { details } : {};
      await note(own, row, row.status === 'approved' ? { outcome: 'failed', code, message, result } : null);
    });
  }
}

async function hold(ctx: Context, id: string): Promise<Approval | undefined> {
  const { rows } = await ctx.sql<Approval>(
    `select ${APPROVAL_FIELDS} from approval_requests r
     where r.id = $1 and r.status <> 'pending' and r.concluded_at is null for update`,
    [id],
  );
  return rows[0];
}

async function conclude(ctx: Context, id: string): Promise<void> {
  const row = await hold(ctx, id);
  if (!row) return;
  const kind = findKind(ctx, row.kind);
  if (row.status === 'approved') return note(ctx, row, await carryOut(ctx, row, kind));
  if (kind) await tellKind(ctx, row, kind);
  await note(ctx, row, null);
}

async function tellKind(ctx: Context, row: Approval, kind: ApprovalKind): Promise<void> {
  const request = await requestOf(ctx, row);
  if (row.status === 'rejected') await kind.onRejected?.(ctx, request);
  if (row.status === 'expired') await kind.onExpired?.(ctx, request);
  if (row.status === 'cancelled') await kind.onCancelled?.(ctx, request);
}

async function carryOut(ctx: Context, row: Approval, kind: ApprovalKind | undefined): Promise<Outcome> {
  if (!kind) return failed('KIND_UNAVAILABLE', 'The module that would carry it out is not installed any more');
  const { orgId, causation, decidedAt, askedBy, askedKeyId } = row;
  if (decidedAt && Date.now() - decidedAt.getTime() > MAX_CARRY_OUT_HOURS * 3_600_000) return TOO_LATE;
  const [module = ''] = row.kind.split('.');
  if (ctx.services.modules.off(module, { orgId })) return failed('MODULE_DISABLED', 'Its feature is switched off');
  const request = await requestOf(ctx, row);
  if (await isStale(ctx, row, request)) return failed('STALE', 'What was asked for has changed since');
  const author = askedKeyId ? { apiKeyId: askedKeyId } : { userId: askedBy };
  const asker = await authorNow(ctx, author, { orgId, partnerId: null });
  if (!asker || !(await stillReaches(ctx, row, kind, asker)))
    return failed('OWNER_ACCESS_LOST', 'Who asked for it has lost the access that it needs');
  const actor = { ...asker.actor, mfa: row.askedWithMfa };
  const result = await ctx.inNameOf({ actor, limits: asker.limits, causation }, (own) => kind.onApproved(own, request));
  return { outcome: 'done', result };
}

/** The asker's permission, and all sites or some of the devices: devices out of the asker's reach are for the kind to leave out. */
async function stillReaches(
  ctx: Context,
  { siteIds, deviceIds, orgId }: Approval,
  { askerPermission }: ApprovalKind,
  { actor, limits }: AuthorNow,
): Promise<boolean> {
  if (!holds(actor, askerPermission)) return false;
  if (!limits.siteIds && !limits.groupIds) return true;
  if (siteIds.length > 0 && (limits.groupIds || !siteIds.every((id) => limits.siteIds?.includes(id)))) return false;
  if (deviceIds.length === 0) return siteIds.length > 0;
  const values: unknown[] = [deviceIds, orgId];
  const add: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
  const { rowCount } = await ctx.sql(
    `select from devices d where d.id = any($1::uuid[]) and d.org_id = $2 and ${reach({ scope: limits }, 'd', add)} limit 1`,
    values,
  );
  return rowCount === 1;
}

/** @param outcome of what was approved; null for the other ends. Sealed inputs are not needed any more. */
export async function note(ctx: Context, { id }: Approval, outcome: Outcome | null): Promise<void> {
  const { rows } = await ctx.sql<Approval>(
    `update approval_requests r set concluded_at = now(), outcome = $2, outcome_code = $3, outcome_message = left($4, 1000), result = $5,
       input = case when r.input ? '$sealed' then '{}' else r.input end, version = r.version + 1
     where r.id = $1 and r.concluded_at is null returning ${APPROVAL_FIELDS}`,
    [
      ...[id, outcome?.outcome ?? null, outcome?.code ?? null, outcome?.message ?? null],
      outcome?.result ? JSON.stringify(outcome.result) : null,
    ],
  );
  if (rows[0] && outcome) await announceOutcome(ctx, rows[0]);
}
