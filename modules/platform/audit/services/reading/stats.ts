/** Numbers of entries by category and by actor. */
import type { Context } from '#core';
import type { ReportQuery } from '../../models/audit-report.ts';
import { categoryOf } from '../categories.ts';
import { select, whole } from './selection.ts';

const MOST_USERS = 100;

/** Counts every entry of the range; `byUser` contains the hundred most active users. */
export async function statistics(ctx: Context, query: ReportQuery) {
  const { from, values } = whole(select(ctx, query));
  const actions = await ctx.sql<{ action: string; count: number }>(
    `select l.action, count(*) as count ${from} group by l.action`,
    values,
  );
  const byUser = await ctx.sql<{ userId: string; userName: string | null; actionCount: number }>(
    `select l.actor_id as "userId", max(l.actor_name) as "userName", count(*) as "actionCount" ${from}
     and l.actor_type = 'user' group by l.actor_id order by 3 desc, 1 limit ${MOST_USERS}`,
    values,
  );
  const categories = new Map<string, number>();
  for (const { action, count } of actions.rows) {
    const category = categoryOf(action);
    categories.set(category, (categories.get(category) ?? 0) + count);
  }
  return {
    totalEvents: actions.rows.reduce((sum, { count }) => sum + count, 0),
    byCategory: [...categories]
      .map(([category, count]) => ({ category, count }))
      .sort((a, b) => b.count - a.count || (a.category < b.category ? -1 : 1)),
    byUser: byUser.rows,
    range: { from: query.from ?? null, to: query.to ?? null },
  };
}
