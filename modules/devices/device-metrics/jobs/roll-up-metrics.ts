/** Rolls up samples into hours and hours into days. */
import { defineJob } from '#core';
import { rollUpMetrics } from '../services/metric-rollups.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-metrics/roll-up-metrics': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Rolls up samples into hours and hours into days',
  scope: 'platform',
  schedule: { cron: '4 * * * *' },
  maxAttempts: 5,
  async run(ctx) {
    if (await rollUpMetrics(ctx)) ctx.addJob('device-metrics/roll-up-metrics', {}, { key: 'device-metrics-roll-up' });
  },
});
