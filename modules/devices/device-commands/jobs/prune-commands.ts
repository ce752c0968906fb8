/** Deletes commands that ended long ago. */
import { defineJob } from '#core';
import { pruneCommands } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-commands/prune-commands': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Deletes commands that ended long ago',
  scope: 'platform',
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  async run(ctx) {
    if (await pruneCommands(ctx)) ctx.addJob('device-commands/prune-commands', {}, { key: 'device-commands-prune' });
  },
});
