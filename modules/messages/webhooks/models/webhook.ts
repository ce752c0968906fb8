/** A webhook: where an organization, or a partner for all of its organizations, wants events sent. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named } from '#core';

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
const webhooks = defineTable('webhooks', {
  id: column.uuid(),
  orgId: column.nullable(column.uuid()),
  partnerId: column.nullable(column.uuid()),
  name: column.text(Joi.string().trim().min(1).max(255)),
  url: column.text(
    Joi.string()
      .uri({ scheme: ['https', 'http'] })
      .max(2048),
  ),
  host: column.text(),
  events: column.of<string[]>(
    Joi.array()
      .items(Joi.string().max(100))
      .min(1)
      .max(100)
      .unique()
      .description('Kinds of GET /webhooks/event-kinds, families such as `device.*`, or `*`'),
    Joi.array().items(Joi.string()),
  ),
  /** Values sealed. */
  headers: column.of<Header[]>(
    Joi.array()
      .items(header)
      .max(20)
      // Compared before the items are known to be objects.
      .unique((a: Header | null, b: Header | null) => `${a?.key}`.toLowerCase() === `${b?.key}`.toLowerCase()),
    Joi.array().items(headerShape),
  ),
  secrets: column.of<Secret[]>(
    Joi.array(),
    Joi.array().items(secretShape).description('Which secrets sign; their values are shown once, when they are made'),
  ),
  filters: column.of<WebhookFilters>(
    filters.description(
      'All given must hold. Events without a severity pass `severities`; those without a device no `groupIds`',
    ),
    Joi.object().unknown(),
  ),
  apiVersion: column.text(Joi.string().valid(...API_VERSIONS)),
  status: column.oneOf<WebhookStatus>('active', 'paused', 'failed'),
  disabledReason: column.nullable(column.text()),
  consecutiveFailures: column.of<number>(
    Joi.number().integer(),
    Joi.number().integer().description('Deliveries in a row that failed for good'),
  ),
  noticed: column.integer(),
  firstFailureAt: column.of<Date | null>(
    Joi.date().iso().allow(null),
    Joi.date().iso().allow(null).description('Of the failed attempts since the last success'),
  ),
  lastDeliveryAt: column.nullable(column.time()),
  lastSuccessAt: column.nullable(column.time()),
  successCount: column.integer(),
  failureCount: column.integer(),
  createdBy: column.nullable(column.text()),
  createdAt: column.time(),
  updatedAt: column.time(),
  deletedAt: column.nullable(column.time()),
});

export class Webhook extends webhooks.Model {
  static override partnerOwned = true;
  static override jsonAttributes = ['headers', 'secrets', 'filters'];
}

const CHANGEABLE = ['name', 'url', 'events', 'headers', 'filters', 'apiVersion'] as const;
const secret = Joi.string()
  .max(100)
  .custom((value: string, { error }) => (isSecret(value) ? value : error('any.invalid')))
  .messages({ 'any.invalid': '{{#label}} is not whsec_ and the base64 of 24 to 64 bytes' })
  .description('A signing secret of your own: `whsec_` and the base64 of 24 to 64 bytes; else one is made');

const created = webhooks.input(CHANGEABLE, { required: ['name', 'url', 'events'] });
export type WebhookCreate = InputOf<typeof created> & { orgId?: string; partnerId?: string; secret?: string };
export const webhookCreate = named(
  'WebhookCreate',
  created.append<WebhookCreate>({
    secret,
    orgId: Joi.string().uuid(),
    partnerId: Joi.string().uuid().description('For the events of all organizations of the partner'),
  }),
);

const updated = webhooks
  .input(CHANGEABLE)
  .fork('headers', (schema) => schema.description(`Replaces all; the value ${MASK} keeps that of the same key`));
export type WebhookUpdate = InputOf<typeof updated> & {
  secret?: string;
  status?: 'active' | 'paused';
  rotateSecret?: boolean;
};
export const webhookUpdate = named(
  'WebhookUpdate',
  updated.append<WebhookUpdate>({
    secret,
    status: Joi.string().valid('active', 'paused'),
    rotateSecret: Joi.boolean().valid(true).description('Makes a new secret; the old one signs for 24 hours more'),
  }),
);

export const webhookShape = named(
  'Webhook',
  webhooks
    .answer([
      ...([
        'id',
        'orgId',
        'partnerId',
        'name',
        'url',
        'events',
        'headers',
        'secrets',
        'filters',
        'apiVersion',
      ] as const),
      ...(['status', 'disabledReason', 'consecutiveFailures', 'firstFailureAt', 'lastDeliveryAt'] as const),
      ...(['lastSuccessAt', 'successCount', 'failureCount', 'createdBy', 'createdAt', 'updatedAt'] as const),
    ])
    .append({ disablePolicy: policyShape.required() }),
);

const count = Joi.number().integer().required();
export const webhookListed = named(
  'WebhookListed',
  webhookShape.keys({
    stats: Joi.object({ last24h: Joi.object({ delivered: count, failed: count }).required() }).required(),
  }),
);
const shownOnce = Joi.string().description('Shown here and never again');
export const webhookCreated = named('WebhookCreated', webhookShape.keys({ secret: shownOnce.required() }));
export const webhookChanged = named('WebhookChanged', webhookShape.keys({ secret: shownOnce }));

/** Standard Webhooks: base64 with padding, 24 to 64 bytes. */
function isSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}
