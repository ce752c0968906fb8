/** /orgs/partners: provisioning by the system, and each partner's own record under /me. */

import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { ownPartnerUpdate, PARTNER_STATUSES, partnerCreate, partnerShape, partnerUpdate } from '../models/partner.ts';
import {
  createPartner,
  deletePartner,
  listPartners,
  readOwnPartner,
  readPartner,
  updateOwnPartner,
  updatePartner,
} from '../services/partners.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const success = Joi.object({ success: Joi.boolean().required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/orgs/partners',
    summary: 'Lists partners, by name',
    access: { permission: 'organizations:read', scopes: ['system'] },
    query: Joi.object<PageQuery & { status?: string }>({
      ...pageQuery(),
      status: Joi.string()
        .valid(...PARTNER_STATUSES)
        .description('Only in this state; `pending` ones wait for approval'),
    }),
    response: pageOf(partnerShape),
    handler: (ctx, { query }) => listPartners(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/orgs/partners/me',
    summary: "Reads the caller's own partner",
    access: { permission: 'organizations:read', scopes: ['partner'] },
    response: partnerShape,
    handler: (ctx) => readOwnPartner(ctx),
  }),
  defineRoute({
    method: 'GET',
    path: '/orgs/partners/{id}',
    summary: 'Reads a partner',
    access: { permission: 'organizations:read', scopes: ['system'] },
    params,
    response: partnerShape,
    handler: (ctx, { params: { id } }) => readPartner(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/orgs/partners',
    summary: 'Creates a partner',
    access: { permission: 'organizations:write', scopes: ['system'] },
    audit: 'partner.create',
    payload: partnerCreate,
    response: partnerShape,
    status: 201,
    errors: ['NAME_TAKEN'],
    handler: (ctx, { payload }) => createPartner(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/orgs/partners/me',
    summary: "Changes the caller's own partner; settings are merged",
    access: { permission: 'organizations:write', scopes: ['partner'] },
    audit: 'partner.settings.update',
    payload: ownPartnerUpdate,
    response: partnerShape,
    errors: ['NO_UPDATES'],
    handler: (ctx, { payload }) => updateOwnPartner(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/orgs/partners/{id}',
    summary: 'Changes a partner; settings are merged',
    description:
      'A registered partner that is `pending` is approved with the status `active` and refused with another; its users get a mail.',
    access: { permission: 'organizations:write', scopes: ['system'] },
    audit: 'partner.update',
    params,
    payload: partnerUpdate,
    response: partnerShape,
    errors: ['NAME_TAKEN', 'NO_UPDATES'],
    handler: (ctx, { params: { id }, payload }) => updatePartner(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/orgs/partners/{id}',
    summary: 'Removes a partner (soft delete)',
    access: { permission: 'organizations:delete', scopes: ['system'] },
    audit: 'partner.delete',
    params,
    response: success,
    handler: (ctx, { params: { id } }) => deletePartner(ctx, id),
  }),
];
