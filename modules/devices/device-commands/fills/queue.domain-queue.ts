/** Commands on the operators' page of the job queue. */
import { defineContribution } from '#core';

export default defineContribution('queue.domain-queue', {
  name: 'device-commands',
  title: 'Commands for devices',
  link: '/api/v1/devices',
  /** `failed` counts the commands created within the last hour. */
  async count(ctx) {
    const { rows } = await ctx.sql<{ pending: number; oldestAt: Date | null; failed: number }>(
      // reach: platform role: figures for operators over all tenants
      `select (select count(*)::int from device_commands where status = 'pending') as pending,
           (select min(created_at) from device_commands where status = 'pending') as "oldestAt",
           (select count(*)::int from device_commands where created_at > now() - interval '1 hour'
             and status in ('failed', 'timeout', 'expired')) as failed`,
    );
    return rows[0] ?? { pending: 0, oldestAt: null, failed: 0 };
  },
});
