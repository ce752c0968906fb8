/** What happens to metrics when a device is merged or purged. A moved device leaves its metrics with the old organization. */
import { defineContribution } from '#core';
import { takeOverMetrics } from '../services/merged-metrics.ts';
import { removeMetrics } from '../services/retention.ts';

export default defineContribution('devices.follower', { purged: removeMetrics, mergedHistory: takeOverMetrics });
