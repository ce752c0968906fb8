/** Filters ask here what `custom.<key>` is: a field of the type that its definition has. */
import { defineFilling } from '#core';
import { filterFields } from '../services/filter-fields.ts';

export default defineFilling({
  slot: 'filters.field',
  value: { family: { prefix: 'custom.', resolve: filterFields } },
});
