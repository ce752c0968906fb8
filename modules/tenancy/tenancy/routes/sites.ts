/** /orgs/sites: sites of an organization. */

import Joi from 'joi';
import { defineRoute, type TrackedQuery, trackedPageOf, trackedQuery } from '#core';
import { siteCreate, siteShape, siteUpdate } from '../models/site.ts';
import { createSite, deleteSite, listSites, readSite, updateSite } from '../services/sites.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const success = Joi.object({ success: Joi.boolean().required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/orgs/sites',
    summary: 'Lists sites, by name, or what has changed of them',
    access: { permission: 'sites:read' },
    query: Joi.object<TrackedQuery & { orgId?: string; organizationId?: string }>({
      ...trackedQuery(),
      orgId: Joi.string().uuid(),
      organizationId: Joi.string().uuid().description('The same as orgId'),
    }),
    response: trackedPageOf(siteShape),
    errors: ['NOT_FOUND', 'ORG_ACCESS_DENIED', 'INVALID_CURSOR', 'CURSOR_EXPIRED'],
    handler: (ctx, { query }) => listSites(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/orgs/sites',
    summary: 'Creates a site',
    access: { permission: 'sites:write' },
    audit: 'site.create',
    payload: siteCreate,
    response: siteShape,
    status: 201,
    errors: ['NOT_FOUND', 'ORG_ACCESS_DENIED', 'SITE_ACCESS_DENIED'],
    handler: (ctx, { payload }) => createSite(ctx, payload),
  }),
  defineRoute({
    method: 'GET',
    path: '/orgs/sites/{id}',
    summary: 'Reads a site',
    access: { permission: 'sites:read' },
    params,
    response: siteShape,
    errors: ['SITE_ACCESS_DENIED'],
    handler: (ctx, { params: { id } }) => readSite(ctx, id),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/orgs/sites/{id}',
    summary: 'Changes a site; settings are merged',
    access: { permission: 'sites:write' },
    audit: 'site.update',
    params,
    payload: siteUpdate,
    response: siteShape,
    errors: ['NO_UPDATES', 'SITE_ACCESS_DENIED'],
    handler: (ctx, { params: { id }, payload }) => updateSite(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/orgs/sites/{id}',
    summary: 'Removes a site that nothing lies in',
    access: { permission: 'sites:delete' },
    audit: 'site.delete',
    params,
    response: success,
    errors: ['IN_USE', 'SITE_ACCESS_DENIED'],
    handler: (ctx, { params: { id } }) => deleteSite(ctx, id),
  }),
];
