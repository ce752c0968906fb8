/** Notes in the global search. */
import { defineContribution } from '#core';
import { searchNotes } from '../services/notes.ts';

export default defineContribution('search.category', {
  type: 'notes',
  permission: 'devices:read',
  find: (ctx, { text, limit }) => searchNotes(ctx, text, limit),
});
