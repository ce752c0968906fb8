/** Organizations by name: those that the caller reaches. */
import { defineFilling } from '#core';
import { searchOrganizations } from '../services/organizations.ts';

export default defineFilling({
  slot: 'search.category',
  value: {
    type: 'organizations',
    permission: 'organizations:read',
    find: (ctx, { text, limit }) => searchOrganizations(ctx, text, limit),
  },
});
