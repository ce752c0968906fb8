/** The field `groupId` for filters: the groups of a device. Filters of groups cannot use it (services/evaluating/rules.ts). */
import { defineContribution } from '#core';
import { seenIds } from '../services/reach.ts';

export default defineContribution('filters.field', {
  fields: [
    {
      key: 'groupId',
      type: 'uuid',
      rows: {
        // reach: a condition inside a statement over devices that has reach() itself
        from: '(select device_id, group_id from device_group_members where not is_excluded) g',
        device: 'g.device_id',
        value: 'g.group_id',
      },
      operators: ['equals', 'in'],
      known: seenIds,
    },
  ],
});
