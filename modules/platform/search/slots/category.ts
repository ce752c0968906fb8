/** The slot `search.category`. */
import { defineSlot } from '#core';
import type { SearchCategory } from '../models/category.ts';

declare module '#core/contract' {
  interface Slots {
    'search.category': SearchCategory;
  }
}

export default defineSlot<SearchCategory>({
  summary: 'Finds objects of one kind by text',
});
