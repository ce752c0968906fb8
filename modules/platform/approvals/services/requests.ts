/** Requests as callers see them: their own, and those that they could decide about. */
import { type Context, errors, isLimited, mustAccessOrg, type PageQuery, page, reach, type SortKey } from '#core';
import { APPROVAL_COLUMNS, Approval, type ApprovalStatus, showApproval } from '../models/approval.ts';
import { decidableKinds, findKind } from './kinds.ts';

export interface ApprovalQuery extends PageQuery {
  status?: ApprovalStatus;
  kind?: string;
  mine?: 'asked' | 'decidable';
  orgId?: string;
}

const ORDER = {
  name: 'approvals-newest',
  keys: [
    { expression: 'approval_requests.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'approval_requests.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

interface Condition {
  sql: string;
  values: unknown[];
}

/** SQL over `approval_requests`: the caller asked. Of requests by an API key, the key and who made it. */
const askedByCaller = ({ actor }: Context): Condition =>
  actor.kind === 'api_key'
    ? { sql: 'approval_requests.asked_key_id = ?::uuid', values: [actor.id] }
    : { sql: 'approval_requests.asked_by = ?::uuid', values: [actor.id] };

/**
 * SQL over `approval_requests`: the caller has the permission of its kind, and reaches all of the sites and devices that it is for. Devices
 * that have left the organization do not count.
 */
function decidableByCaller(ctx: Context): Condition {
  const values: unknown[] = [decidableKinds(ctx)];
  const permitted = 'approval_requests.kind = any(?::text[])';
  if (!isLimited(ctx)) return { sql: permitted, values };
  const add = (value: unknown, type: string): string => {
    values.push(value);
    return `?::${type}`;
  };
  const of = 'd.id = any(approval_requests.device_ids) and d.org_id = approval_requests.org_id';
  // The values are added in the order in which they stand.
  const devices = `exists (select from devices d where ${of} and ${reach(ctx, 'd', add)})
    and not exists (select from devices d where ${of} and not (${reach(ctx, 'd', add)}))`;
  const { siteIds, groupIds } = ctx.scope;
  const sites = siteIds && !groupIds ? `approval_requests.site_ids <@ ${add(siteIds, 'uuid[]')}` : 'false';
  const sql = `${permitted} and (cardinality(approval_requests.device_ids) = 0 or (${devices}))
    and (case when cardinality(approval_requests.site_ids) > 0 then ${sites}
      else cardinality(approval_requests.device_ids) > 0 end)`;
  return { sql, values };
}

function visible(ctx: Context) {
  const [asked, decidable] = [askedByCaller(ctx), decidableByCaller(ctx)];
  const values = [...asked.values, ...decidable.values] as string[];
  return Approval.in(ctx)
    .select(APPROVAL_COLUMNS.map((name) => `approval_requests.${name}`))
    .whereRaw(`(${asked.sql} or (${decidable.sql}))`, values);
}

/** Who asked, with whatever session or key, cannot decide. */
export const isAsker = ({ actor }: Context, { askedBy }: Pick<Approval, 'askedBy'>): boolean => actor.id === askedBy;

/** What the caller sees and did not ask for is what the caller may decide about, in person. */
function show(ctx: Context, row: Approval) {
  const isOpen = row.status === 'pending' && row.expiresAt > new Date();
  const mayDecide = isOpen && ctx.actor.kind === 'user' && !isAsker(ctx, row);
  return showApproval(row, findKind(ctx, row.kind)?.title ?? null, mayDecide);
}

export function listApprovals(ctx: Context, { status, kind, mine, orgId, ...paging }: ApprovalQuery) {
  const approvals = visible(ctx);
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    approvals.where('approval_requests.orgId', orgId);
  }
  if (status) approvals.where('approval_requests.status', status);
  if (kind) approvals.where('approval_requests.kind', kind);
  const asked = askedByCaller(ctx);
  if (mine === 'asked') approvals.whereRaw(asked.sql, asked.values as string[]);
  if (mine === 'decidable') {
    if (ctx.actor.kind !== 'user') approvals.whereRaw('false');
    approvals.whereRaw(`not (${asked.sql})`, asked.values as string[]);
    approvals.whereRaw(`approval_requests.status = 'pending' and approval_requests.expires_at > now()`);
  }
  return page(approvals, paging, ORDER, (row) => show(ctx, row));
}

/** Throws 404 for one that the caller neither asked for nor could decide about. */
export async function mustSee(ctx: Context, id: string): Promise<Approval> {
  const found = await visible(ctx).findById(id);
  if (!found) throw errors.NotFound('Approval not found');
  return found;
}

export async function readApproval(ctx: Context, id: string) {
  const row = await mustSee(ctx, id);
  return { data: { ...show(ctx, row), deviceIds: row.deviceIds } };
}
