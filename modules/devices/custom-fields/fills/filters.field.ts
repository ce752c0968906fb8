/** Filters ask here what `custom.<key>` is: a field of the type that its definition has. */
import { defineContribution } from '#core';
import { filterFields } from '../services/filter-fields.ts';

export default defineContribution('filters.field', { family: { prefix: 'custom.', resolve: filterFields } });
