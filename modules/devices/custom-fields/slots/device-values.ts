/** Devices ask here what may be written into their custom fields. */
import { defineFilling } from '#core';
import { checkValues } from '../services/values.ts';

export default defineFilling({
  slot: 'devices.values',
  value: {
    check: (ctx, { orgId, osType, timeZone }, values, by = 'user') =>
      checkValues(ctx, orgId, osType, values, { by, timeZone }),
  },
});
