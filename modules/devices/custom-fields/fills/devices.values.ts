/** Devices ask here what may be written into their custom fields. */
import { defineContribution } from '#core';
import { checkValues } from '../services/values.ts';

export default defineContribution('devices.values', {
  check: (ctx, { orgId, osType, timeZone }, values, by = 'user') =>
    checkValues(ctx, orgId, osType, values, { by, timeZone }),
});
