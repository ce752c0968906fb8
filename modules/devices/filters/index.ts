/** Saved filters, and the engine that turns condition trees into SQL. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'filters',
  title: 'Filters',
  summary: 'Rules that find devices: saved, previewed, explained, and compiled for modules that target devices',
  requires: [],
  default: 'on',
  objects: { 'saved filters': 'saved_filters' },
  api,
});
