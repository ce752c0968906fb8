/** Agent updates in progress, for the page of the job queue that operators see. */
import { defineContribution } from '#core';

export default defineContribution('queue.domain-queue', {
  name: 'agent-updates',
  title: 'Agent updates in progress',
  link: '/api/v1/agent-versions',
  async count(ctx) {
    const { rows } = await ctx.sql<{ pending: number; oldestAt: Date | null; failed: number }>(
      // reach: platform role: figures for operators over all tenants
      `select (select count(*)::int from agent_update_attempts where finished_at is null) as pending,
           (select min(started_at) from agent_update_attempts where finished_at is null) as "oldestAt",
           (select count(*)::int from agent_update_attempts
             where started_at > now() - interval '1 hour' and state in ('failed', 'rolled_back')) as failed`,
    );
    return rows[0] ?? { pending: 0, oldestAt: null, failed: 0 };
  },
});
