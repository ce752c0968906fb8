/** /api-keys: listing, creating, changing, rotating and revoking API keys. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import {
  apiKeyCreate,
  apiKeyCreated,
  apiKeyRotated,
  apiKeyShape,
  apiKeyUpdate,
  type KeyStatus,
} from '../models/api-key.ts';
import {
  createApiKey,
  listApiKeys,
  readApiKey,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from '../services/keys/api-keys.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const read = { permission: 'organizations:read', apiKey: false };
const write = { permission: 'organizations:write', mfa: true, apiKey: false };

export default [
  defineRoute({
    method: 'GET',
    path: '/api-keys',
    summary: 'Lists API keys, newest first',
    access: read,
    query: Joi.object<PageQuery & { orgId?: string; status?: KeyStatus }>({
      ...pageQuery(),
      orgId: Joi.string().uuid(),
      status: Joi.string().valid('active', 'revoked', 'expired').description('Only in this state'),
    }),
    response: pageOf(apiKeyShape),
    handler: (ctx, { query }) => listApiKeys(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api-keys',
    summary: 'Creates an API key; only this response contains the full key',
    access: write,
    audit: 'api_key.create',
    payload: apiKeyCreate,
    response: apiKeyCreated,
    status: 201,
    errors: ['TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { payload }) => createApiKey(ctx, payload),
  }),
  defineRoute({
    method: 'GET',
    path: '/api-keys/{id}',
    summary: 'Reads an API key, without the key',
    access: read,
    params,
    response: apiKeyShape,
    handler: (ctx, { params: { id } }) => readApiKey(ctx, id),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/api-keys/{id}',
    summary: 'Changes name, scopes or rate limit of an active key',
    access: write,
    audit: 'api_key.update',
    params,
    payload: apiKeyUpdate,
    response: apiKeyShape,
    errors: ['INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, payload }) => updateApiKey(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api-keys/{id}',
    summary: 'Revokes an API key permanently',
    access: write,
    audit: 'api_key.revoke',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id } }) => revokeApiKey(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/api-keys/{id}/rotate',
    summary: 'Replaces the key material; the old key stops working immediately',
    access: write,
    audit: 'api_key.rotate',
    params,
    response: apiKeyRotated,
    errors: ['INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id } }) => rotateApiKey(ctx, id),
  }),
];
