/** Makes hours of the samples and days of the hours. */
import { defineJob } from '#core';
import { rollUp } from '../services/metrics/metric-rollups.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/roll-up-metrics': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Makes hours of the samples and days of the hours',
  scope: 'platform',
  schedule: { cron: '4 * * * *' },
  maxAttempts: 5,
  async run(ctx) {
    if (await rollUp(ctx)) ctx.addJob('devices/roll-up-metrics', {}, { key: 'devices-roll-up' });
  },
});
