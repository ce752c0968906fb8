/** /filters: saved filters. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery, searchText } from '#core';
import { filterCreate, filterShape, filterUpdate } from '../models/saved-filter.ts';
import { createFilter, deleteFilter, listFilters, readFilter, updateFilter } from '../services/filters.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/filters',
    summary: 'Lists saved filters, newest first',
    access: { permission: 'devices:read' },
    query: Joi.object<PageQuery & { search?: string }>({
      ...pageQuery(1000, 1000),
      search: searchText(200).description('Searches name and description'),
    }),
    response: pageOf(filterShape).keys({ total: Joi.number().integer().required() }),
    handler: (ctx, { query }) => listFilters(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/filters/{id}',
    summary: 'Reads a saved filter',
    access: { permission: 'devices:read' },
    params,
    response: filterShape,
    handler: (ctx, { params: { id } }) => readFilter(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/filters',
    summary: 'Creates a saved filter',
    access: { permission: 'devices:write' },
    audit: 'filter.create',
    payload: filterCreate,
    response: filterShape,
    status: 201,
    errors: ['ORG_REQUIRED', 'ORG_ACCESS_DENIED', 'NOT_FOUND'],
    handler: (ctx, { payload }) => createFilter(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/filters/{id}',
    summary: 'Changes a saved filter',
    access: { permission: 'devices:write' },
    audit: 'filter.update',
    params,
    payload: filterUpdate,
    response: filterShape,
    errors: ['NO_UPDATES', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, payload }) => updateFilter(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/filters/{id}',
    summary: 'Deletes a saved filter',
    access: { permission: 'devices:write' },
    audit: 'filter.delete',
    params,
    response: filterShape,
    errors: ['TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id } }) => deleteFilter(ctx, id),
  }),
];
