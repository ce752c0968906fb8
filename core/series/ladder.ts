/** The tables of series: how long each resolution is kept, and how it is made of the one before. */
import type { RollUpLadder } from './roll-up.ts';

export const MINUTES = 300;
export const HOUR = 3600;
export const DAY = 86_400;
/** Days that points, five minutes, hours and days are kept. */
export const KEPT_DAYS = { points: 14, minutes: 30, hours: 400, days: 1096 } as const;

const MERGED = 'sum(samples)::integer, sum(total), min(low), max(high)';
const POINTS = 'count(*)::integer, sum(value), min(value), max(value)';

export const SERIES: RollUpLadder = {
  progress: 'series_progress',
  samples: 'series_points',
  keys: ['series_id', 'org_id'],
  time: 'at',
  columns: 'samples, total, low, high',
  steps: [
    { table: 'series_5m', from: 'series_points', seconds: MINUTES, aggregates: POINTS },
    { table: 'series_hours', from: 'series_5m', seconds: HOUR, aggregates: MERGED },
    { table: 'series_days', from: 'series_hours', seconds: DAY, aggregates: MERGED },
  ],
  firstDays: KEPT_DAYS.points,
  maxBuckets: 48,
  openBuckets: false,
};
