/** Whether a request is still what was asked for. */
import type { Context } from '#core';
import type { Approval } from '../models/approval.ts';
import type { ApprovalRequest } from '../models/asking.ts';
import { hashOf, openInput } from './inputs.ts';
import { findKind } from './kinds.ts';

/** The request as its kind receives it, with its input opened. */
export async function requestOf(ctx: Context, row: Approval): Promise<ApprovalRequest> {
  const { rows } = await ctx.sql<{ input: Record<string, unknown> }>(
    'select input from approval_requests where id = $1',
    [row.id],
  );
  const { id, kind, orgId, siteIds, deviceIds, reason, askedBy, askedKeyId, decidedBy } = row;
  return {
    ...{ id, kind, orgId, siteIds, deviceIds, reason, decidedBy },
    subject: { type: row.subjectType, id: row.subjectId },
    input: openInput(ctx, id, rows[0]?.input ?? {}),
    askedBy: { userId: askedBy, apiKeyId: askedKeyId },
  };
}

/** True where the stored input is another than the one that was asked for, or the subject has changed since. */
export async function isStale(
  ctx: Context,
  row: Pick<Approval, 'inputHash'>,
  request: ApprovalRequest,
): Promise<boolean> {
  if (hashOf(ctx, request.input) !== row.inputHash) return true;
  const kind = findKind(ctx, request.kind);
  if (!kind?.current) return false;
  const current = await kind.current(ctx, request);
  return current === null || hashOf(ctx, current) !== row.inputHash;
}
