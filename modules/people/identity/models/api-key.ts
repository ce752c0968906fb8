/** An API key: lets a program call the API for one organization. The full key is returned only when it is created. */
import Joi from 'joi';
import { Model, named } from '#core';
import { KEY_SCOPES } from './key-scopes.ts';

export type KeyStatus = 'active' | 'expired' | 'revoked';
export interface ApiKeyCreate {
  orgId: string;
  name: string;
  scopes: string[];
  expiresAt: Date | null;
  rateLimit: number;
}
export type ApiKeyUpdate = Partial<Pick<ApiKeyCreate, 'name' | 'scopes' | 'rateLimit'>>;

export class ApiKey extends Model {
  static override tableName = 'api_keys';
  declare id: string;
  declare orgId: string;
  declare name: string;
  declare keyPrefix: string;
  declare scopes: string[];
  declare expiresAt: Date | null;
  declare rateLimit: number;
  declare status: KeyStatus;
  declare createdBy: string;
  declare createdAt: Date;
  declare lastUsedAt: Date | null;
  declare usageCount: string;
}

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

const name = Joi.string().trim().min(1).max(255);
const scopes = Joi.array()
  .items(Joi.string().valid('*', ...KEY_SCOPES))
  .unique()
  .description('`resource:action` pairs, or `*` for all of them');
const rateLimit = Joi.number().integer().min(1).max(100_000).description('Requests an hour');

export const apiKeyShape = named(
  'ApiKey',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().required(),
    name: Joi.string().required(),
    keyPrefix: Joi.string().required(),
    scopes: Joi.array().items(Joi.string()).required(),
    expiresAt: Joi.date().iso().allow(null).required(),
    rateLimit: Joi.number().integer().required(),
    status: Joi.string().valid('active', 'expired', 'revoked').required(),
    createdBy: Joi.string().uuid().required(),
    createdAt: Joi.date().iso().required(),
    lastUsedAt: Joi.date().iso().allow(null).required(),
    usageCount: Joi.number().integer().required(),
  }),
);
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
  Joi.object<ApiKeyCreate, true>({
    orgId: Joi.string().uuid().required(),
    name: name.required(),
    scopes: scopes.default([]),
    expiresAt: Joi.date().iso().allow(null).default(null),
    rateLimit: rateLimit.default(1000),
  }),
);
export const apiKeyUpdate = named('ApiKeyUpdate', Joi.object<ApiKeyUpdate, true>({ name, scopes, rateLimit }));
