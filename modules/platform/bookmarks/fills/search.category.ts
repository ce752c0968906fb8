/** Bookmarks in the global search. */
import { defineContribution } from '#core';
import { searchBookmarks } from '../services/bookmarks.ts';

export default defineContribution('search.category', {
  type: 'bookmarks',
  permission: 'devices:read',
  find: (ctx, { text, limit }) => searchBookmarks(ctx, text, limit),
});
