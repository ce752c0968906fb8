/** Removing a custom field asks here which groups follow it. */
import { defineFilling } from '#core';
import { groupsFollowing } from '../services/evaluating/rules.ts';

export default defineFilling({
  slot: 'custom-fields.references',
  value: {
    find: async (ctx, { fieldKey, orgIds }) =>
      (await groupsFollowing(ctx, orgIds, `custom.${fieldKey}`)).map(({ id, name }) => ({
        type: 'device_group',
        id,
        name,
      })),
  },
});
