/** Deletes old changes and addresses of devices. */
import { defineJob } from '#core';
import { pruneHistory } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/prune-history': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Deletes old changes and addresses of devices',
  scope: 'platform',
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  async run(ctx) {
    if (await pruneHistory(ctx)) ctx.addJob('devices/prune-history', {}, { key: 'devices-prune-history' });
  },
});
