/** Device metrics: samples from heartbeats, roll-ups by the hour and the day, and their history. */
import { defineModule } from '#core';
import { metricHistory } from './models/metric-history.ts';

export default defineModule({
  name: 'device-metrics',
  title: 'Device metrics',
  summary: 'Processor, memory, disk and network of devices over time',
  requires: ['devices'],
  core: true,
  permissions: ['devices:read'],
  audits: [],
  schemas: { MetricHistory: metricHistory },
});
