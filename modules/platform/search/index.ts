/** Search: one query over devices, users, organizations, settings pages and the categories of other modules. */
import { defineModule } from '#core';
import type { SearchCategory } from './models/category.ts';
import { searchAnswer } from './models/result.ts';

declare module '#core/contract' {
  interface Slots {
    'search.category': SearchCategory;
  }
}

export default defineModule({
  name: 'search',
  title: 'Search',
  summary: 'Finds devices, users, organizations, settings pages and more by a part of their names',
  requires: [],
  default: 'on',
  permissions: [],
  audits: [],
  slots: ['search.category'],
  schemas: {
    SearchResult: searchAnswer,
  },
});
