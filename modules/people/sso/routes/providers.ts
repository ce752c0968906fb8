/** /sso/providers. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery } from '#core';
import { providerCreate, providerShape, providerUpdate, statusChange, testResult } from '../models/provider.ts';
import { testProvider } from '../services/provider-tests.ts';
import {
  createProvider,
  deleteProvider,
  listProviders,
  type ProviderQuery,
  readProvider,
  setStatus,
  updateProvider,
} from '../services/providers.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const read = { permission: 'organizations:read' };
const write = { permission: 'organizations:write', mfa: true, apiKey: false };
const provider = Joi.object({ data: providerShape.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/sso/providers',
    summary: 'Lists identity providers by name',
    access: read,
    query: Joi.object<ProviderQuery>({
      ...pageQuery(1000, 1000),
      orgId: Joi.string().uuid(),
      status: Joi.string().valid('active', 'inactive', 'testing').description('Only in this state'),
    }),
    response: pageOf(providerShape),
    handler: (ctx, { query }) => listProviders(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/sso/providers/{id}',
    summary: 'Reads an identity provider, without its secret',
    access: read,
    params,
    response: provider,
    handler: (ctx, { params: { id } }) => readProvider(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/sso/providers',
    summary: 'Creates an identity provider, inactive at first',
    description: 'Needs every permission: the person who controls the provider can log in as any member.',
    access: write,
    audit: 'sso.provider.create',
    payload: providerCreate,
    response: provider,
    status: 201,
    errors: ['SITE_ACCESS_DENIED', 'ORG_REQUIRED', 'NAME_TAKEN', 'NOT_FOUND'],
    handler: (ctx, { payload }) => createProvider(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/sso/providers/{id}',
    summary: 'Changes an identity provider',
    description: 'Another issuer or client forgets who was linked. Another issuer needs the client secret again.',
    access: write,
    audit: 'sso.provider.update',
    params,
    payload: providerUpdate,
    response: provider,
    errors: ['SITE_ACCESS_DENIED', 'NO_UPDATES', 'CLIENT_SECRET_REQUIRED', 'NAME_TAKEN', 'SSO_NOT_PROVEN'],
    handler: (ctx, { params: { id }, payload }) => updateProvider(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/sso/providers/{id}',
    summary: 'Removes an identity provider and all linked identities',
    access: write,
    audit: 'sso.provider.delete',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['SITE_ACCESS_DENIED'],
    handler: (ctx, { params: { id } }) => deleteProvider(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/sso/providers/{id}/status',
    summary: 'Sets an identity provider active, inactive or testing; one of an organization may be active',
    access: write,
    audit: 'sso.provider.update',
    params,
    payload: statusChange,
    response: provider,
    errors: ['SITE_ACCESS_DENIED', 'SSO_PROVIDER_ACTIVE', 'SSO_NOT_PROVEN'],
    handler: (ctx, { params: { id }, payload }) => setStatus(ctx, id, payload.status),
  }),
  defineRoute({
    method: 'POST',
    path: '/sso/providers/{id}/test',
    summary: 'Tests discovery and signing keys of an identity provider',
    description: 'Answers 200 also for a provider that fails: `error` says what to mend.',
    access: write,
    audit: { none: 'it only looks' },
    work: 'none',
    limits: [{ name: 'sso-test', max: 10, windowSeconds: 60, by: ({ params: { id } }, ip) => `${ip}:${id}` }],
    params,
    response: testResult,
    errors: ['RATE_LIMITED'],
    handler: (ctx, { params: { id } }) => testProvider(ctx, id),
  }),
];
