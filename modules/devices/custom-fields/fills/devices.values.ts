/** Devices ask here what may be written into their custom fields, and what readers see of them. */
import { defineContribution } from '#core';
import { searchableFields, seenValues } from '../services/readings.ts';
import { checkValues } from '../services/values.ts';

export default defineContribution('devices.values', {
  check: (ctx, { orgId, osType, timeZone }, values, by = 'user') =>
    checkValues(ctx, orgId, osType, values, { by, timeZone }),
  seen: seenValues,
  searchable: searchableFields,
});
