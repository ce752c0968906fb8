/** The tables and aggregates of device metrics, as they are declared to the roll-up of core. Platform role. */
import { type Context, type RollUpLadder, rollUp } from '#core';
import { FROM_ROLLED, FROM_SAMPLES, ROLLED } from './metric-columns.ts';

const LADDER: RollUpLadder = {
  progress: 'device_metrics_progress',
  samples: 'device_metrics',
  keys: ['device_id', 'org_id'],
  time: 'ts',
  columns: ROLLED,
  steps: [
    { table: 'device_metrics_hourly', from: 'device_metrics', seconds: 3600, aggregates: FROM_SAMPLES },
    { table: 'device_metrics_days', from: 'device_metrics_hourly', seconds: 86_400, aggregates: FROM_ROLLED },
  ],
  firstDays: 14,
  maxBuckets: 48,
  openBuckets: true,
};

/** Rolls up what has come since the last run; see `rollUp` of core. Returns true when hours are left. */
export const rollUpMetrics = (ctx: Context): Promise<boolean> =>
  rollUp((text, values, name) => ctx.sql(text, values, name), LADDER);
