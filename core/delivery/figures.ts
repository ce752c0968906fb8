/** What waits in a delivery queue, for the operators' pages (slot queue.domain-queue). */
import type { Context } from '../context/index.ts';
import type { AnyDeliveryQueue } from '../contract/index.ts';

export interface DeliveryFigures {
  pending: number;
  oldestAt: Date | null;
  /** Messages created within the last hour that were given up; 0 for a queue without a log. */
  failed: number;
}

/** Platform role. */
export async function deliveryFigures(ctx: Context, { table, log }: AnyDeliveryQueue): Promise<DeliveryFigures> {
  const failed = log
    ? `(select count(*)::int from ${log.table} where created_at > now() - interval '1 hour' and ${log.failed})`
    : '0';
  const { rows } = await ctx.sql<DeliveryFigures & Record<string, unknown>>(
    `select count(*)::int as pending, min(created_at) as "oldestAt", ${failed} as failed from ${table}`,
  );
  return rows[0] ?? { pending: 0, oldestAt: null, failed: 0 };
}
