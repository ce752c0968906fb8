/** How a request leaves the state `pending`: one compare-and-set update, so of two callers at once one succeeds. */
import type { Context } from '#core';
import { APPROVAL_FIELDS, type Approval, type ClosedStatus } from '../models/approval.ts';
import { announceEnd } from './announcements.ts';

export interface Ending {
  status: ClosedStatus;
  /** The person, where one decided. */
  by?: { id: string; name: string } | undefined;
  reason?: string | null | undefined;
}

/** Null where it is pending no more; what has expired and is not swept yet can only expire. */
export async function endRequest(ctx: Context, id: string, { status, by, reason }: Ending): Promise<Approval | null> {
  const { rows } = await ctx.sql<Approval>(
    `update approval_requests r set status = $2, decided_by = $3, decided_name = $4, decision_reason = $5, decided_at = now(),
       version = r.version + 1
     where r.id = $1 and r.status = 'pending' and (r.expires_at > now()) <> ($2 = 'expired')
     returning ${APPROVAL_FIELDS}`,
    [id, status, by?.id ?? null, by?.name ?? null, reason ?? null],
  );
  const [row] = rows;
  if (!row) return null;
  await announceEnd(ctx, row, status);
  return row;
}
