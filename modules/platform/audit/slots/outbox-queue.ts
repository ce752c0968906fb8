/** Unsealed entries in the operators' list of domain queues. */
import { defineFilling } from '#core';

export default defineFilling({
  slot: 'queue.domain-queue',
  value: {
    name: 'audit-outbox',
    title: 'Audit entries not sealed yet',
    link: '/api/v1/audit-logs/verify',
    async count(ctx) {
      const { rows } = await ctx.sql<{ pending: number; oldestAt: Date | null }>(
        `select count(*)::int as pending,
           (select (entry ->> 'at')::timestamptz from audit_outbox order by id limit 1) as "oldestAt" from audit_outbox`,
      );
      return { pending: 0, oldestAt: null, ...rows[0], failed: 0 };
    },
  },
});
