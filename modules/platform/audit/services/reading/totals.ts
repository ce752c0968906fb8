/** The number of entries of a selection. */
import type { Context } from '#core';
import { type Selection, whole } from './selection.ts';

/**
 * Exact. Without a filter it is computed from the chains, which have no gaps: the last number minus the first, for each owner;
 * so the total of a trail of millions costs two index look-ups.
 */
export async function totalOf(ctx: Context, selection: Selection): Promise<number> {
  if (selection.conditions.length > 0 || selection.orgIds === null) {
    const { from, values } = whole(selection);
    const { rows } = await ctx.sql<{ total: number }>(`select count(*) as total ${from}`, values);
    return rows[0]?.total ?? 0;
  }
  const owners = selection.orgIds.map((id) => `org:${id}`);
  if (selection.partnerId) owners.push(`partner:${selection.partnerId}`);
  const { rows } = await ctx.sql<{ total: number }>(
    `select coalesce(sum(last.seq - first.seq + 1), 0) as total from unnest($1::text[]) o (owner)
     cross join lateral (select l.seq from audit_logs l where l.owner = o.owner order by l.seq limit 1) first
     cross join lateral (select l.seq from audit_logs l where l.owner = o.owner order by l.seq desc limit 1) last`,
    [owners],
    'audit-total',
  );
  return rows[0]?.total ?? 0;
}
