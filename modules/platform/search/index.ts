/** Search: one query over devices, users, organizations, settings pages and the categories of other modules. */
import { defineModule } from '#core';

export default defineModule({
  name: 'search',
  title: 'Search',
  summary: 'Finds devices, users, organizations, settings pages and more by a part of their names',
  requires: [],
  default: 'on',
});
