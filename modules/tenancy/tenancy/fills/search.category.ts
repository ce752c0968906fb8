/** Organizations by name: those that the caller reaches. */
import { defineContribution } from '#core';
import { searchOrganizations } from '../services/organizations.ts';

export default defineContribution('search.category', {
  type: 'organizations',
  permission: 'organizations:read',
  find: (ctx, { text, limit }) => searchOrganizations(ctx, text, limit),
});
