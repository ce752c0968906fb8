/** Groups whose filter uses a custom field, for the removal of that field. */
import { defineContribution } from '#core';
import { groupsFollowing } from '../services/evaluating/rules.ts';

export default defineContribution('custom-fields.references', {
  find: async (ctx, { fieldKey, orgIds }) =>
    (await groupsFollowing(ctx, orgIds, `custom.${fieldKey}`)).map(({ id, name }) => ({
      type: 'device_group',
      id,
      name,
    })),
});
