/** An API key: lets a program call the API for one organization. The full key is returned only when it is created. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named } from '#core';
import { KEY_SCOPES } from './key-scopes.ts';

export type KeyStatus = 'active' | 'expired' | 'revoked';

const keys = defineTable('api_keys', {
  id: column.uuid(),
  orgId: column.uuid(),
  name: column.text(Joi.string().trim().min(1).max(255)),
  keyPrefix: column.text(),
  scopes: column.of<string[]>(
    Joi.array()
      .items(Joi.string().valid('*', ...KEY_SCOPES))
      .unique()
      .description('`resource:action` pairs, or `*` for all of them'),
    Joi.array().items(Joi.string()),
  ),
  expiresAt: column.nullable(column.time()),
  rateLimit: column.integer(Joi.number().integer().min(1).max(100_000).description('Requests an hour')),
  status: column.oneOf<KeyStatus>('active', 'expired', 'revoked'),
  createdBy: column.uuid(),
  createdAt: column.time(),
  lastUsedAt: column.nullable(column.time()),
  /** The driver reads 64-bit integers as text; answers show a number. */
  usageCount: column.of<string>(Joi.number().integer()),
});

export class ApiKey extends keys.Model {}

/** The effective status: a key past its expiry is expired even before its next use stores that. */
export function statusOf(row: Pick<ApiKey, 'status' | 'expiresAt'>): KeyStatus {
  return row.status === 'active' && row.expiresAt && row.expiresAt.getTime() <= Date.now() ? 'expired' : row.status;
}

/** Everything but the hash. */
export function showApiKey(row: ApiKey) {
  const { id, orgId, name, keyPrefix, scopes, expiresAt, rateLimit, createdBy, createdAt, lastUsedAt } = row;
  const status = statusOf(row);
  const usageCount = Number(row.usageCount);
  return {
    ...{ id, orgId, name, keyPrefix, scopes, expiresAt, rateLimit, status },
    ...{ createdBy, createdAt, lastUsedAt, usageCount },
  };
}

export const apiKeyShape = named('ApiKey', keys.answer());
const once = {
  key: Joi.string().required().description('The full key; it cannot be shown again'),
  warning: Joi.string().required(),
};
export const apiKeyRotated = named('ApiKeyRotated', apiKeyShape.keys(once));
export const apiKeyCreated = named(
  'ApiKeyCreated',
  apiKeyRotated.fork(['lastUsedAt', 'usageCount'], (schema) => schema.forbidden()),
);
export const apiKeyCreate = named(
  'ApiKeyCreate',
  keys.input(['orgId', 'name', 'scopes', 'expiresAt', 'rateLimit'], {
    required: ['orgId', 'name'],
    defaults: { scopes: [], expiresAt: null, rateLimit: 1000 },
  }),
);
export const apiKeyUpdate = named('ApiKeyUpdate', keys.input(['name', 'scopes', 'rateLimit']));
export type ApiKeyCreate = InputOf<typeof apiKeyCreate>;
export type ApiKeyUpdate = InputOf<typeof apiKeyUpdate>;
