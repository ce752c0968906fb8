/** A delivery: one message to one webhook, with all attempts to send it. */
import Joi from 'joi';
import { Model, named } from '#core';

export type DeliveryStatus = 'pending' | 'retrying' | 'delivered' | 'failed';
/** As people see it: a delivery is paused while webhooks are switched off for its organization. */
export type ShownStatus = DeliveryStatus | 'paused';
export type ErrorCode = 'dns' | 'blocked_address' | 'connect' | 'tls' | 'timeout' | 'http' | 'too_large' | 'cancelled';

export class Delivery extends Model {
  static override tableName = 'webhook_deliveries';
  static override partnerOwned = true;
  static override siteColumn = 'site_id';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare webhookId: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare siteId: string | null;
  declare deviceId: string | null;
  declare eventId: string;
  declare eventType: string;
  declare messageId: string;
  declare payload: Record<string, unknown>;
  declare status: DeliveryStatus;
  declare attempts: number;
  declare maxAttempts: number;
  declare nextRetryAt: Date | null;
  declare responseStatus: number | null;
  declare responseBody: string | null;
  declare responseTimeMs: number | null;
  declare errorMessage: string | null;
  declare errorCode: ErrorCode | null;
  declare trigger: 'event' | 'test' | 'manual_retry';
  declare retryOfId: string | null;
  declare createdAt: Date;
  declare deliveredAt: Date | null;
}

export const STATUSES: readonly ShownStatus[] = ['pending', 'retrying', 'paused', 'delivered', 'failed'];

const time = Joi.date().iso().allow(null).required();
const text = Joi.string().allow(null, '').required();
export const deliveryShape = named(
  'WebhookDelivery',
  Joi.object({
    id: Joi.string().uuid().required(),
    webhookId: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().allow(null).required(),
    siteId: Joi.string().uuid().allow(null).required(),
    deviceId: Joi.string().uuid().allow(null).required(),
    eventId: Joi.string().uuid().required(),
    eventType: Joi.string().required(),
    messageId: Joi.string().required().description('The header webhook-id of every attempt'),
    payload: Joi.object().unknown().required(),
    status: Joi.string()
      .valid(...STATUSES)
      .required()
      .description(
        '`paused`: webhooks are switched off for its organization; it is sent when they are on again within 24 hours',
      ),
    attempts: Joi.number().integer().required(),
    maxAttempts: Joi.number().integer().required(),
    nextRetryAt: time,
    responseStatus: Joi.number().integer().allow(null).required(),
    responseBody: text.description('At most the first 1,000 characters'),
    responseTimeMs: Joi.number().integer().allow(null).required(),
    errorMessage: text,
    errorCode: Joi.string()
      .valid('dns', 'blocked_address', 'connect', 'tls', 'timeout', 'http', 'too_large', 'cancelled')
      .allow(null)
      .required(),
    trigger: Joi.string().valid('event', 'test', 'manual_retry').required(),
    retryOfId: Joi.string().uuid().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    deliveredAt: time,
  }),
);
