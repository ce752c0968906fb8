/** What happens to metrics when a device is merged or purged. A moved device leaves its metrics with the old organization. */
import { defineFilling } from '#core';
import { takeOverMetrics } from '../services/merged-metrics.ts';
import { removeMetrics } from '../services/retention.ts';

export default defineFilling({
  slot: 'devices.follower',
  value: { purged: removeMetrics, mergedHistory: takeOverMetrics },
});
