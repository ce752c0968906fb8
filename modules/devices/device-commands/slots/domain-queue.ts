/** Commands on the operators' page of the job queue. */
import { defineFilling } from '#core';

export default defineFilling({
  slot: 'queue.domain-queue',
  value: {
    name: 'device-commands',
    title: 'Commands for devices',
    link: '/api/v1/devices',
    /** Failed: of the commands sent within the last hour. */
    async count(ctx) {
      const { rows } = await ctx.sql<{ pending: number; oldestAt: Date | null; failed: number }>(
        `select (select count(*)::int from device_commands where status = 'pending') as pending,
           (select min(created_at) from device_commands where status = 'pending') as "oldestAt",
           (select count(*)::int from device_commands where created_at > now() - interval '1 hour'
             and status in ('failed', 'timeout', 'expired')) as failed`,
      );
      return rows[0] ?? { pending: 0, oldestAt: null, failed: 0 };
    },
  },
});
