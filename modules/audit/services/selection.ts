/** Which entries a caller asks for, as SQL: their reach, their filters, and the newest of them. */
import { type Context, mustAccessOrg } from '#core';
import type { AuditFilter } from '../models/audit-log.ts';

export interface Row {
  id: string;
  owner: string;
  seq: number;
  orgId: string | null;
  timestamp: Date;
  /** The same with its microseconds, which a Date loses; for cursors. */
  at: string;
  actorType: string;
  actorId: string;
  actorEmail: string | null;
  actorName: string | null;
  action: string;
  resourceType: string;
  resourceId: string;
  resourceName: string | null;
  details: Record<string, unknown>;
  ipAddress: string | null;
  userAgent: string | null;
  result: 'success' | 'failure' | 'denied';
  errorMessage: string | null;
}
export const COLUMNS = `l.id, l.owner, l.seq, l.org_id as "orgId", l.timestamp, l.timestamp::text as at,
  l.actor_type as "actorType", l.actor_id as "actorId", l.actor_email as "actorEmail", l.actor_name as "actorName", l.action,
  l.resource_type as "resourceType", l.resource_id as "resourceId", l.resource_name as "resourceName", l.details,
  l.ip_address as "ipAddress", l.user_agent as "userAgent", l.result, l.error_message as "errorMessage"`;

/** Past which entry to go on, newest first. */
export interface Position {
  at: string;
  id: string;
}

/**
 * Row-level security lets nothing else through; saying the reach here too lets each organization's own index serve.
 * `orgIds` null means all.
 */
export interface Selection {
  orgIds: readonly string[] | null;
  /** The partner whose own rows, those of no organization, are meant as well. */
  partnerId: string | null;
  conditions: string[];
  values: unknown[];
}

/** Text anywhere in a column; its own % and _ stand for themselves. */
export const like = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Throws 403 when a named organization is out of reach. */
export function select(ctx: Context, filter: AuditFilter & { actions?: readonly string[] }): Selection {
  const { scope } = ctx;
  const orgId = filter.orgId ?? scope.orgId;
  if (orgId) mustAccessOrg(ctx, orgId);
  const selection: Selection = {
    orgIds: orgId ? [orgId] : scope.orgIds,
    partnerId: orgId || scope.kind !== 'partner' ? null : scope.partnerId,
    conditions: [],
    values: [],
  };
  const { user, action, resource, from, to, q, actorId, actions } = filter;
  if (from) narrow(selection, (n) => `l.timestamp >= ${n}`, from);
  if (to) narrow(selection, (n) => `l.timestamp <= ${n}`, to);
  if (actorId) narrow(selection, (n) => `l.actor_id = ${n}`, actorId);
  if (actions) narrow(selection, (n) => `l.action = any(${n}::text[])`, actions);
  if (user) narrow(selection, (n) => `(l.actor_email ilike ${n} or l.actor_name ilike ${n})`, like(user));
  if (action) narrow(selection, (n) => `l.action ilike ${n}`, like(action));
  if (resource) narrow(selection, (n) => `(l.resource_type ilike ${n} or l.resource_name ilike ${n})`, like(resource));
  if (q) {
    const anywhere = ['l.action', 'l.actor_email', 'l.resource_type', 'l.resource_name', 'l.details::text'];
    narrow(selection, (n) => `(${anywhere.map((column) => `${column} ilike ${n}`).join(' or ')})`, like(q));
  }
  return selection;
}

function narrow(selection: Selection, condition: (placeholder: string) => string, value: unknown): void {
  selection.values.push(value);
  selection.conditions.push(condition(`$${selection.values.length}`));
}

/** `from … where …` over all that is selected, for counting; `values` go with it. */
export function whole(selection: Selection): { from: string; values: unknown[] } {
  const values = [...selection.values];
  const conditions = [...selection.conditions];
  const reach: string[] = [];
  if (selection.orgIds) {
    values.push(selection.orgIds);
    reach.push(
      selection.orgIds.length === 1
        ? `l.org_id = ($${values.length}::uuid[])[1]`
        : `l.org_id = any($${values.length}::uuid[])`,
    );
    if (selection.partnerId) {
      values.push(selection.partnerId);
      reach.push(`l.org_id is null and l.partner_id = $${values.length}`);
    }
    conditions.unshift(`(${reach.join(' or ')})`);
  }
  return { from: `from audit_logs l where ${['true', ...conditions].join(' and ')}`, values };
}

/**
 * The newest `limit` entries behind `offset` or past a position. For several organizations each one's newest are taken
 * through its own index and merged, so the cost grows with the page and not with the trails.
 */
export function newest(
  selection: Selection,
  {
    limit,
    offset = 0,
    after,
    columns = COLUMNS,
  }: { limit: number; offset?: number; after?: Position; columns?: string },
): { text: string; values: unknown[] } {
  const values = [...selection.values];
  const conditions = [...selection.conditions];
  if (after) {
    values.push(after.at, after.id);
    conditions.push(`(l.timestamp, l.id) < ($${values.length - 1}::text::timestamptz, $${values.length}::text::uuid)`);
  }
  const order = 'order by l.timestamp desc, l.id desc';
  const taken = (place: string, count: number) =>
    `select ${columns} from audit_logs l where ${[place, ...conditions].join(' and ')} ${order} limit ${count}`;
  const { orgIds, partnerId } = selection;
  if (orgIds === null) return { text: `${taken('true', limit)} offset ${offset}`, values };
  values.push(orgIds);
  const orgs = `$${values.length}::uuid[]`;
  if (orgIds.length === 1 && !partnerId)
    return { text: `${taken(`l.org_id = (${orgs})[1]`, limit)} offset ${offset}`, values };
  const parts = [
    `select each.* from unnest(${orgs}) o (id) cross join lateral (${taken('l.org_id = o.id', limit + offset)}) each`,
  ];
  if (partnerId) {
    values.push(partnerId);
    parts.push(`(${taken(`l.org_id is null and l.partner_id = $${values.length}`, limit + offset)})`);
  }
  return {
    text: `select * from (${parts.join(' union all ')}) merged order by "timestamp" desc, id desc limit ${limit} offset ${offset}`,
    values,
  };
}
