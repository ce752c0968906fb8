/** Drops the days of agents' logs that are past their retention (domain/agents, section 8). */
import Joi from 'joi';
import { defineJob } from '#core';

declare module '#core/contract' {
  interface Jobs {
    'agents/drop-old-logs': Record<string, never>;
  }
}

export default defineJob({
  name: 'agents/drop-old-logs',
  summary: 'Drops old agent logs',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '17 1 * * *' },
  maxAttempts: 5,
  async run(ctx) {
    await ctx.sql(`select drop_daily_partitions('agent_logs', $1)`, [ctx.platform.config.agents.logRetentionDays]);
  },
});
