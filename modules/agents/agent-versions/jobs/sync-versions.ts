/** Registers a new release every hour where AGENT_VERSION_SYNC is on; runs the same code as the endpoint. */
import { defineJob } from '#core';
import { syncRemote } from '../services/releases/syncs.ts';
import { variables } from '../variables.ts';

export default defineJob({
  summary: 'Registers a new release, where the operator enabled that',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  async run(ctx) {
    if (variables.of(ctx.services.config).versionSync) await syncRemote(ctx, null);
  },
});
