/** What each change of a request leaves in the audit trail, tells, and sets going. */
import { type Context, changesOf } from '#core';
import cancelled from '../events/cancelled.ts';
import carriedOut from '../events/carried-out.ts';
import decided from '../events/decided.ts';
import expired from '../events/expired.ts';
import requested from '../events/requested.ts';
import type { Approval, ClosedStatus } from '../models/approval.ts';
import type { AboutApproval } from '../models/told.ts';
import type { ApprovalKind } from '../slots/kind.ts';
import { findKind } from './kinds.ts';

const ACTIONS = {
  approved: 'approval.approve',
  rejected: 'approval.reject',
  cancelled: 'approval.cancel',
  expired: 'approval.expire',
} as const;

const about = (row: Approval): AboutApproval => ({
  approvalId: row.id,
  kind: row.kind,
  title: row.title,
  subject: { type: row.subjectType, id: row.subjectId },
  askedBy: { userId: row.askedBy, apiKeyId: row.askedKeyId, name: row.askedName },
});

/** The site of an event, where all of the request lies in one, so that people limited to it hear of it. */
async function placeOf(ctx: Context, { orgId, siteIds, deviceIds, causation }: Approval) {
  const [deviceId] = deviceIds;
  const place = { orgId, causation };
  if (!deviceId) return siteIds.length === 1 ? { ...place, siteId: siteIds[0] ?? null } : place;
  // reach: where devices of the request lie, for those who may hear of it; nothing of it is shown
  const { rows } = await ctx.sql<{ siteId: string }>(
    'select distinct site_id as "siteId" from devices where id = any($1::uuid[]) and org_id = $2 limit 2',
    [deviceIds, orgId],
  );
  const siteId = rows.length === 1 && siteIds.length === 0 ? (rows[0]?.siteId ?? null) : null;
  return { ...place, siteId, ...(deviceIds.length === 1 ? { deviceId } : {}) };
}

function audit(ctx: Context, action: string, row: Approval, details: object): void {
  ctx.audit(action, {
    orgId: row.orgId,
    resourceType: 'approval',
    resourceId: row.id,
    resourceName: row.title,
    details: { kind: row.kind, subjectType: row.subjectType, subjectId: row.subjectId, ...details },
  });
}

export async function announceRequest(ctx: Context, row: Approval, { permission }: ApprovalKind): Promise<void> {
  const { reason, siteIds, deviceIds, askedBy, askedKeyId } = row;
  audit(ctx, 'approval.request', row, {
    ...{ before: null, after: { status: row.status, expiresAt: row.expiresAt } },
    ...{ reason, askedBy, siteIds, deviceCount: deviceIds.length, ...(askedKeyId ? { askedWith: askedKeyId } : {}) },
  });
  const data = { ...about(row), reason, expiresAt: row.expiresAt.toISOString(), permission };
  ctx.emit(requested, data, await placeOf(ctx, row));
}

/** Also adds the job that tells the kind. */
export async function announceEnd(ctx: Context, row: Approval, status: ClosedStatus): Promise<void> {
  const after = { status, decisionReason: row.decisionReason, decidedBy: row.decidedBy };
  const before = { status: 'pending', decisionReason: null, decidedBy: null };
  const names = ['status', 'decisionReason', 'decidedBy'];
  audit(ctx, ACTIONS[status], row, { ...changesOf(before, after, names), askedBy: row.askedBy });
  const askerPermission = findKind(ctx, row.kind)?.askerPermission ?? '';
  const place = await placeOf(ctx, row);
  if (status === 'expired') ctx.emit(expired, { ...about(row), askerPermission }, place);
  else if (status === 'cancelled') ctx.emit(cancelled, { ...about(row), reason: row.decisionReason }, place);
  else {
    const decidedBy = { userId: row.decidedBy ?? '', name: row.decidedName ?? '' };
    const data = { ...about(row), decision: status, decidedBy, reason: row.decisionReason, askerPermission };
    ctx.emit(decided, data, place);
  }
  ctx.addJob('approvals/conclude-request', { id: row.id }, { orgId: row.orgId });
}

/** Of what was approved. */
export async function announceOutcome(ctx: Context, row: Approval): Promise<void> {
  const { outcome, outcomeCode, outcomeMessage } = row;
  const after = { outcome, outcomeCode, outcomeMessage };
  const before = { outcome: null, outcomeCode: null, outcomeMessage: null };
  const changes = changesOf(before, after, ['outcome', 'outcomeCode', 'outcomeMessage']);
  audit(ctx, 'approval.carry_out', row, { ...changes, askedBy: row.askedBy, decidedBy: row.decidedBy });
  const askerPermission = findKind(ctx, row.kind)?.askerPermission ?? '';
  const data = { outcome: outcome ?? 'failed', code: outcomeCode, message: outcomeMessage, askerPermission };
  ctx.emit(carriedOut, { ...about(row), ...data }, await placeOf(ctx, row));
}
