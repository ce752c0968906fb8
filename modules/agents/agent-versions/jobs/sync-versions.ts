/** The hourly look for a new release; the same code as the endpoint. */
import { defineJob } from '#core';
import { syncRemote } from '../services/releases/syncs.ts';
import { variables } from '../variables.ts';

export default defineJob({
  summary: 'Looks for a new release, where the operator switched that on',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  async run(ctx) {
    if (variables.of(ctx.services.config).versionSync) await syncRemote(ctx, null);
  },
});
