/** Erases the results of live tools after an hour. */
import { defineJob } from '#core';

/** The command and its audit entries remain. A file transfer in progress keeps its row. */
// reach: retention by the platform role, for all organizations
const ERASE = `
delete from tool_calls where command_id in (
  select c.command_id from tool_calls c where c.created_at < now() - interval '1 hour'
    and not exists (select from file_transfers t where t.command_id = c.command_id)
  order by c.created_at limit 5000)`;

export default defineJob({
  summary: 'Erases results of live tools after an hour',
  scope: 'platform',
  schedule: { cron: '*/5 * * * *' },
  whenOff: 'results must not be kept longer than an hour',
  maxAttempts: 1,
  async run(ctx) {
    await ctx.sql(ERASE);
  },
});
