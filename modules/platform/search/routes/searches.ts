/** GET /search: one question to all categories. */
import { defineRoute } from '#core';
import { type SearchQuery, searchAnswer, searchQuery } from '../models/result.ts';
import { search } from '../services/searches.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/search',
    summary: 'Finds things by a part of their names, whole names and beginnings first',
    description:
      'Each type only for callers who may read its list. A type that fails or takes too long is left out of the answer.',
    access: { permission: null, why: 'each category asks for the permission of its own list' },
    query: searchQuery,
    response: searchAnswer,
    handler: (ctx, { query }: { query: SearchQuery }) => search(ctx, query),
  }),
];
