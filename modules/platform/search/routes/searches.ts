/** GET /search: one query to all categories. */
import { defineRoute } from '#core';
import { searchAnswer, searchQuery } from '../models/result.ts';
import { search } from '../services/searches.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/search',
    summary: 'Finds objects by a part of their names; whole names and beginnings come first',
    description: 'Returns only types whose list the caller may read. A type that fails or takes too long is left out.',
    access: { permission: null, why: 'each category requires the permission of its own list' },
    query: searchQuery,
    response: searchAnswer,
    handler: (ctx, { query }) => search(ctx, query),
  }),
];
