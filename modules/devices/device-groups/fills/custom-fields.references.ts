/** Groups whose filter uses a custom field: they are named when it is removed, and evaluated when its default changes. */
import { defineContribution } from '#core';
import { evaluateSoon } from '../services/evaluating/evaluations.ts';
import { groupsFollowing } from '../services/evaluating/rules.ts';

export default defineContribution('custom-fields.references', {
  find: async (ctx, { fieldKey, orgIds }) =>
    (await groupsFollowing(ctx, orgIds, `custom.${fieldKey}`)).map(({ id, name }) => ({
      type: 'device_group',
      id,
      name,
    })),
  defaultChanged: async (ctx, { fieldKey, orgIds }) => {
    for (const group of await groupsFollowing(ctx, orgIds, `custom.${fieldKey}`)) evaluateSoon(ctx, group);
  },
});
