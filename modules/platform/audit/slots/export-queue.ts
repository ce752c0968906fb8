/** Exports of the trail in the operators' list of domain queues. */
import { defineFilling } from '#core';

export default defineFilling({
  slot: 'queue.domain-queue',
  value: {
    name: 'audit-exports',
    title: 'Exports of the audit trail',
    link: '/api/v1/audit-logs/exports',
    async count(ctx) {
      const { rows } = await ctx.sql<{ pending: number; oldestAt: Date | null; failed: number }>(
        `select count(*) filter (where status in ('pending', 'running'))::int as pending,
           min(created_at) filter (where status in ('pending', 'running')) as "oldestAt",
           count(*) filter (where status = 'failed')::int as failed
         from audit_exports where expires_at > now()`,
      );
      return rows[0] ?? { pending: 0, oldestAt: null, failed: 0 };
    },
  },
});
