/** Makes tomorrow's partitions of the agents' logs and drops those past their retention (domain/agents, section 8). */
import Joi from 'joi';
import { defineJob } from '#core';

declare module '#core/contract' {
  interface Jobs {
    'agents/rotate-log-partitions': Record<string, never>;
  }
}

export default defineJob({
  name: 'agents/rotate-log-partitions',
  summary: 'Keeps the daily partitions of agent logs',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '17 1 * * *' },
  maxAttempts: 5,
  async run(ctx) {
    await ctx.sql(`select ensure_daily_partitions('agent_logs', 7), drop_daily_partitions('agent_logs', $1)`, [
      ctx.platform.config.agents.logRetentionDays,
    ]);
  },
});
