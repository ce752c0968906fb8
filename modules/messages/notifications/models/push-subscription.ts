/** A browser that takes push messages for its user (RFC 8030, RFC 8291). */
import Joi from 'joi';
import { Model, named } from '#core';

export class PushSubscription extends Model {
  static override tableName = 'push_subscriptions';
  static override orgColumn = null;
  declare id: string;
  declare userId: string;
  declare endpointHash: string;
  declare sealed: string;
  declare host: string;
  declare userAgent: string | null;
  declare createdAt: Date;
  declare lastUsedAt: Date | null;
}

/** As `PushSubscription.toJSON()` of a browser gives it. */
export interface NewSubscription {
  endpoint: string;
  expirationTime?: number | null;
  keys: { p256dh: string; auth: string };
  userAgent?: string;
}

const bytes = (count: number) =>
  Joi.string()
    .max(200)
    .pattern(/^[A-Za-z0-9_-]+={0,2}$/)
    .custom((value: string, { error }) =>
      Buffer.from(value, 'base64url').length === count ? value : error('any.invalid'),
    )
    .messages({ 'any.invalid': `{{#label}} is not ${count} bytes in base64url` });

export const newSubscription = Joi.object<NewSubscription, true>({
  endpoint: Joi.string()
    .uri({ scheme: ['https', 'http'] })
    .max(2048)
    .required(),
  expirationTime: Joi.number().allow(null),
  keys: Joi.object<NewSubscription['keys'], true>({
    p256dh: bytes(65).required(),
    auth: bytes(16).required(),
  }).required(),
  userAgent: Joi.string().max(255).description('What the list calls the browser'),
}).description('What `PushManager.subscribe()` resolves with');

export const showSubscription = ({ id, host, userAgent, createdAt, lastUsedAt }: PushSubscription) => ({
  ...{ id, host, userAgent, createdAt, lastUsedAt },
});
export const subscriptionShape = named(
  'PushSubscription',
  Joi.object({
    id: Joi.string().uuid().required(),
    host: Joi.string().required().description('Of the push service'),
    userAgent: Joi.string().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    lastUsedAt: Joi.date().iso().allow(null).required(),
  }),
);
