/** Saved filters that use a custom field, for the removal of that field. */
import { defineContribution } from '#core';
import { filtersNaming } from '../services/filters.ts';

export default defineContribution('custom-fields.references', {
  find: async (ctx, { fieldKey, orgIds }) =>
    (await filtersNaming(ctx, orgIds, `custom.${fieldKey}`)).map(({ id, name }) => ({ type: 'filter', id, name })),
});
