/** Saved filters, and the engine that turns condition trees into SQL. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { previewShape } from './models/preview.ts';
import { filterCreate, filterShape, filterUpdate, group } from './models/saved-filter.ts';

export default defineModule({
  name: 'filters',
  title: 'Filters',
  summary: 'Rules that find devices: saved, previewed, explained, and compiled for whoever targets devices',
  requires: [],
  default: 'on',
  objects: { 'saved filters': 'saved_filters' },
  schemas: {
    Filter: filterShape,
    FilterConditions: group,
    FilterCreate: filterCreate,
    FilterPreview: previewShape,
    FilterUpdate: filterUpdate,
  },
  api,
});
