/** The hourly look for a new release; the same code as the endpoint. */
import { defineJob } from '#core';
import { syncRemote } from '../services/releases/syncs.ts';

export default defineJob({
  summary: 'Looks for a new release, where the operator switched that on',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  async run(ctx) {
    if (ctx.services.config.agents.versionSync) await syncRemote(ctx, null);
  },
});
