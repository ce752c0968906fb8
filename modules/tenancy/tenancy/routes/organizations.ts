/** /orgs/ and /orgs/organizations: organizations of a partner. */

import Joi from 'joi';
import { defineRoute, type TrackedQuery, trackedPageOf, trackedQuery } from '#core';
import {
  organizationBrief,
  organizationCreate,
  organizationOrder,
  organizationShape,
  organizationUpdate,
} from '../models/organization.ts';
import { orderOrganizations } from '../services/organization-order.ts';
import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  listReachedOrganizations,
  readOrganization,
  updateOrganization,
} from '../services/organizations.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const success = Joi.object({ success: Joi.boolean().required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/orgs',
    summary: 'Lists every organization the caller reaches, by name, on one page',
    access: { permission: 'organizations:read' },
    response: Joi.object({ data: Joi.array().items(organizationBrief).required() }),
    handler: (ctx) => listReachedOrganizations(ctx),
  }),
  defineRoute({
    method: 'GET',
    path: '/orgs/organizations',
    summary: 'Lists organizations, by name, or what has changed of them',
    access: { permission: 'organizations:read', scopes: ['partner', 'system'] },
    query: Joi.object<TrackedQuery & { partnerId?: string }>({ ...trackedQuery(), partnerId: Joi.string().uuid() }),
    response: trackedPageOf(organizationShape),
    errors: ['PARTNER_ACCESS_DENIED', 'INVALID_CURSOR', 'CURSOR_EXPIRED'],
    handler: (ctx, { query }) => listOrganizations(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/orgs/organizations/{id}',
    summary: 'Reads an organization',
    access: { permission: 'organizations:read', scopes: ['partner', 'system'] },
    params,
    response: organizationShape,
    handler: (ctx, { params: { id } }) => readOrganization(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/orgs/organizations',
    summary: 'Creates an organization',
    access: { permission: 'organizations:write', scopes: ['partner', 'system'] },
    audit: 'organization.create',
    payload: organizationCreate,
    response: organizationShape,
    status: 201,
    errors: ['NAME_TAKEN', 'ORG_LIMIT_REACHED', 'PARTNER_ACCESS_DENIED', 'NOT_FOUND'],
    handler: (ctx, { payload }) => createOrganization(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/orgs/organizations/order',
    summary: "Sets the order of the partner's organizations",
    access: { permission: 'organizations:write', scopes: ['partner'] },
    audit: 'partner.settings.update',
    payload: organizationOrder,
    response: organizationOrder,
    handler: (ctx, { payload }) => orderOrganizations(ctx, payload.organizationOrder),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/orgs/organizations/{id}',
    summary: 'Changes an organization; settings are merged',
    access: { permission: 'organizations:write', scopes: ['partner', 'system'] },
    audit: 'organization.update',
    params,
    payload: organizationUpdate,
    response: organizationShape,
    errors: ['NAME_TAKEN', 'NO_UPDATES'],
    handler: (ctx, { params: { id }, payload }) => updateOrganization(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/orgs/organizations/{id}',
    summary: 'Removes an organization (soft delete; its sites stay)',
    access: { permission: 'organizations:delete', scopes: ['partner', 'system'] },
    audit: 'organization.delete',
    params,
    response: success,
    handler: (ctx, { params: { id } }) => deleteOrganization(ctx, id),
  }),
];
