/** Notes in the global search. */
import { defineFilling } from '#core';
import { searchNotes } from '../services/notes.ts';

export default defineFilling({
  slot: 'search.category',
  value: { type: 'notes', permission: 'devices:read', find: (ctx, { text, limit }) => searchNotes(ctx, text, limit) },
});
