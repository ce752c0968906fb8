/** Which of an organization's actions a filter means: there are few, so entries can then be found through their index. */
import type { Context } from '#core';
import type { AuditFilter } from '../models/audit-log.ts';
import { like, type Selection, select } from './selection.ts';

/**
 * The selection of a filter, with part of an action replaced by the actions that hold it where one organization is read.
 * A pattern could not use the index under row-level security, and a rare action would be looked for in the whole trail.
 */
export async function selectByActions(ctx: Context, filter: AuditFilter): Promise<Selection> {
  const { action, ...rest } = filter;
  const plain = select(ctx, filter);
  const [orgId, ...others] = plain.orgIds ?? [];
  if (!action || !orgId || others.length > 0 || plain.partnerId) return plain;
  // One look-up in the index for each action that the organization has.
  const { rows } = await ctx.sql<{ action: string }>(
    `with recursive actions as (
       (select l.action from audit_logs l where l.org_id = $1 order by l.action limit 1)
       union all
       select (select l.action from audit_logs l where l.org_id = $1 and l.action > a.action order by l.action limit 1)
       from actions a where a.action is not null)
     select action from actions where action ilike $2`,
    [orgId, like(action)],
    'audit-actions',
  );
  return select(ctx, { ...rest, actions: rows.map((row) => row.action) });
}
