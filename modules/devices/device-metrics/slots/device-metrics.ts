/** Stores the samples that heartbeats carry, and reads the last day of them for GET /devices/{id}. */
import { defineFilling } from '#core';
import { INSERT_SAMPLES, readRecent } from '../services/samples.ts';

export default defineFilling({ slot: 'devices.metrics', value: { insertSamples: INSERT_SAMPLES, readRecent } });
