/** Stores the samples that heartbeats carry, and reads the last day of them for GET /devices/{id}. */
import { defineContribution } from '#core';
import { INSERT_SAMPLES, readRecent } from '../services/samples.ts';

export default defineContribution('devices.metrics', { insertSamples: INSERT_SAMPLES, readRecent });
