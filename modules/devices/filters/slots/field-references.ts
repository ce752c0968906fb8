/** Removing a custom field asks here which saved filters name it. */
import { defineFilling } from '#core';
import { filtersNaming } from '../services/filters.ts';

export default defineFilling({
  slot: 'custom-fields.references',
  value: {
    find: async (ctx, { fieldKey, orgIds }) =>
      (await filtersNaming(ctx, orgIds, `custom.${fieldKey}`)).map(({ id, name }) => ({ type: 'filter', id, name })),
  },
});
