/** Filters may ask in which groups a device is; the filters of groups themselves may not (services/evaluating/rules.ts). */
import { defineFilling } from '#core';

export default defineFilling({
  slot: 'filters.field',
  value: {
    fields: [
      {
        key: 'groupId',
        type: 'uuid',
        rows: {
          // reach: part of filters, whose statements limit the devices
          from: '(select device_id, group_id from device_group_members where not is_excluded) g',
          device: 'g.device_id',
          value: 'g.group_id',
        },
        operators: ['equals', 'in'],
      },
    ],
  },
});
