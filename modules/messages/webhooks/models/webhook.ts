/** A webhook: where an organization, or a partner for all of its organizations, wants events sent. */
import Joi from 'joi';
import { Model, named } from '#core';

export type WebhookStatus = 'active' | 'paused' | 'failed';
export interface Header {
  key: string;
  value: string;
}
export interface Secret {
  id: string;
  /** Sealed. */
  sealed: string;
  createdAt: string;
  /** Null for the newest, which signs until it is replaced. */
  expiresAt: string | null;
}
export interface WebhookFilters {
  siteIds?: string[];
  severities?: string[];
  groupIds?: string[];
}
export interface WebhookChanges {
  name?: string;
  url?: string;
  events?: string[];
  headers?: Header[];
  secret?: string;
  filters?: WebhookFilters;
  apiVersion?: string;
}
export interface WebhookCreate extends WebhookChanges {
  orgId?: string;
  partnerId?: string;
  name: string;
  url: string;
  events: string[];
}
export interface WebhookUpdate extends WebhookChanges {
  status?: 'active' | 'paused';
  rotateSecret?: boolean;
}

export class Webhook extends Model {
  static override tableName = 'webhooks';
  static override partnerOwned = true;
  static override jsonAttributes = ['headers', 'secrets', 'filters'];
  declare id: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare name: string;
  declare url: string;
  declare host: string;
  declare events: string[];
  /** Values sealed. */
  declare headers: Header[];
  declare secrets: Secret[];
  declare filters: WebhookFilters;
  declare apiVersion: string;
  declare status: WebhookStatus;
  declare disabledReason: string | null;
  declare consecutiveFailures: number;
  declare noticed: number;
  declare firstFailureAt: Date | null;
  declare lastDeliveryAt: Date | null;
  declare lastSuccessAt: Date | null;
  declare successCount: number;
  declare failureCount: number;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare deletedAt: Date | null;
}

/** Shapes of messages that a webhook can be pinned to; the newest is the default. */
export const API_VERSIONS = ['2026-11-01'] as const;
/** What stands for the value of a header in answers; in a change it keeps the value. */
export const MASK = '********';
/** When a webhook that fails is switched off. */
export const DISABLE_POLICY = { afterDays: 5, afterFailedDeliveries: 20, noticesAt: [5, 10, 15] };

/** Ours, or the connection's: a caller who chose them could forge messages or change who is spoken to. */
const FORBIDDEN =
  /^(webhook-.*|host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;
export const header = named(
  'WebhookHeaderWrite',
  Joi.object<Header, true>({
    key: Joi.string()
      .max(100)
      .pattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
      .custom((value: string, { error }) => (FORBIDDEN.test(value) ? error('any.invalid') : value))
      .messages({ 'any.invalid': '{{#label}} is a field that the sender sets itself' })
      .required(),
    value: Joi.string()
      .max(1000)
      .pattern(/^[\t\x20-\x7e]+$/)
      .required(),
  }),
);
const ids = Joi.array().items(Joi.string().uuid()).min(1).max(100).unique();
export const filters = named(
  'WebhookFilters',
  Joi.object<WebhookFilters, true>({
    siteIds: ids,
    severities: Joi.array().items(Joi.string().max(50)).min(1).max(20).unique(),
    groupIds: ids,
  }),
);
const changes = {
  name: Joi.string().trim().min(1).max(255),
  url: Joi.string()
    .uri({ scheme: ['https', 'http'] })
    .max(2048),
  events: Joi.array()
    .items(Joi.string().max(100))
    .min(1)
    .max(100)
    .unique()
    .description('Kinds of GET /webhooks/event-kinds, families such as `device.*`, or `*`'),
  headers: Joi.array()
    .items(header)
    .max(20)
    // Compared before the items are known to be objects.
    .unique((a: Header | null, b: Header | null) => `${a?.key}`.toLowerCase() === `${b?.key}`.toLowerCase()),
  secret: Joi.string()
    .max(100)
    .custom((value: string, { error }) => (isSecret(value) ? value : error('any.invalid')))
    .messages({ 'any.invalid': '{{#label}} is not whsec_ and the base64 of 24 to 64 bytes' })
    .description('A signing secret of your own: `whsec_` and the base64 of 24 to 64 bytes; else one is made'),
  filters: filters.description(
    'All given must hold. Events without a severity pass `severities`; those without a device no `groupIds`',
  ),
  apiVersion: Joi.string().valid(...API_VERSIONS),
};

export const webhookCreate = named(
  'WebhookCreate',
  Joi.object<WebhookCreate, true>({
    ...changes,
    orgId: Joi.string().uuid(),
    partnerId: Joi.string().uuid().description('For the events of all organizations of the partner'),
    name: changes.name.required(),
    url: changes.url.required(),
    events: changes.events.required(),
  }),
);
export const webhookUpdate = named(
  'WebhookUpdate',
  Joi.object<WebhookUpdate, true>({
    ...changes,
    headers: changes.headers.description(`Replaces all; the value ${MASK} keeps that of the same key`),
    status: Joi.string().valid('active', 'paused'),
    rotateSecret: Joi.boolean().valid(true).description('Makes a new secret; the old one signs for 24 hours more'),
  }),
);

/** Standard Webhooks: base64 with padding, 24 to 64 bytes. */
function isSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

const time = Joi.date().iso().allow(null).required();
export const policyShape = named(
  'WebhookDisablePolicy',
  Joi.object({
    afterDays: Joi.number().required(),
    afterFailedDeliveries: Joi.number().required(),
    noticesAt: Joi.array().items(Joi.number()).required(),
  }),
);
export const headerShape = named(
  'WebhookHeader',
  Joi.object({ key: Joi.string().required(), value: Joi.string().valid(MASK).required() }),
);
export const secretShape = named(
  'WebhookSecret',
  Joi.object({ id: Joi.string().required(), createdAt: time, expiresAt: time }),
);
export const webhookShape = named(
  'Webhook',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().allow(null).required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    name: Joi.string().required(),
    url: Joi.string().required(),
    events: Joi.array().items(Joi.string()).required(),
    headers: Joi.array().items(headerShape).required(),
    secrets: Joi.array()
      .items(secretShape)
      .required()
      .description('Which secrets sign; their values are shown once, when they are made'),
    filters: Joi.object().unknown().required(),
    apiVersion: Joi.string().required(),
    status: Joi.string().valid('active', 'paused', 'failed').required(),
    disabledReason: Joi.string().allow(null).required(),
    disablePolicy: policyShape.required(),
    consecutiveFailures: Joi.number().integer().required().description('Deliveries in a row that failed for good'),
    firstFailureAt: time.description('Of the failed attempts since the last success'),
    lastDeliveryAt: time,
    lastSuccessAt: time,
    successCount: Joi.number().integer().required(),
    failureCount: Joi.number().integer().required(),
    createdBy: Joi.string().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);

const count = Joi.number().integer().required();
export const webhookListed = named(
  'WebhookListed',
  webhookShape.keys({
    stats: Joi.object({ last24h: Joi.object({ delivered: count, failed: count }).required() }).required(),
  }),
);
const secret = Joi.string().description('Shown here and never again');
export const webhookCreated = named('WebhookCreated', webhookShape.keys({ secret: secret.required() }));
export const webhookChanged = named('WebhookChanged', webhookShape.keys({ secret }));
