/** Removes abandoned transfers with their remaining chunks. */
import { defineJob } from '#core';
import { variables } from '../variables.ts';

/** Both ends give up and clean up after REMOTE_TOOL_WAIT_SECONDS; after more than twice that time neither did. */
// reach: retention by the platform role, for all organizations
const CLEAN = `
delete from file_transfers where command_id in (
  select command_id from file_transfers where moved_at < now() - make_interval(secs => 2 * $1 + 60)
  order by moved_at limit 500)`;

export default defineJob({
  summary: 'Removes abandoned transfers',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  whenOff: 'transfers that were begun must not remain',
  maxAttempts: 1,
  async run(ctx) {
    await ctx.sql(CLEAN, [variables.of(ctx.services.config).toolWaitSeconds]);
  },
});
