/** Removes transfers whose two ends are gone, with what lies in between. */
import { defineJob } from '#core';
import { variables } from '../variables.ts';

/** Both ends give up after REMOTE_TOOL_WAIT_SECONDS; twice that and a minute is for what neither could remove. */
// reach: retention by the platform role, for all organizations
const CLEAN = `
delete from file_transfers where command_id in (
  select command_id from file_transfers where moved_at < now() - make_interval(secs => 2 * $1 + 60)
  order by moved_at limit 500)`;

export default defineJob({
  summary: 'Removes transfers that nobody moves any more',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  whenOff: 'what was begun must not stay',
  maxAttempts: 1,
  async run(ctx) {
    await ctx.sql(CLEAN, [variables.of(ctx.services.config).toolWaitSeconds]);
  },
});
