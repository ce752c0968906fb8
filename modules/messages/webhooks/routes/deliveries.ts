/** /webhooks/{id}: its log, tests, and sending again. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery } from '#core';
import { deliveryShape, STATUSES } from '../models/delivery.ts';
import {
  type DeliveryQuery,
  listDeliveries,
  type Period,
  replayDeliveries,
  retryDelivery,
} from '../services/deliveries.ts';
import { TEST_KIND } from '../services/kinds.ts';
import { testWebhook } from '../services/tests.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const write = { permission: 'organizations:write' };
const deliveryId = Joi.string().uuid().required().description('The delivery');

export default [
  defineRoute({
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'Lists what was sent to a webhook, newest first',
    access: { permission: 'organizations:read' },
    params,
    query: Joi.object<DeliveryQuery>({
      ...pageQuery(100),
      status: Joi.string()
        .valid(...STATUSES)
        .description('Only in this state'),
      eventType: Joi.string().max(100).description('Only of this kind of event'),
      from: Joi.date().iso().description('Earliest time, inclusive'),
      to: Joi.date().iso().description('Latest time, inclusive'),
    }),
    response: pageOf(deliveryShape),
    handler: (ctx, { params: { id }, query }) => listDeliveries(ctx, id, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/webhooks/{id}/test',
    summary: 'Sends a test, whatever the state of the webhook',
    description:
      'A test that arrives sets a webhook that failed active again. With `wait=1` the answer is 200 with the result.',
    access: write,
    audit: 'webhook.test',
    params,
    query: Joi.object<{ wait?: 0 | 1 }>({
      wait: Joi.number().valid(0, 1).description('1: answer when the test has ended, within 20 s'),
    }),
    payload: Joi.object<{ event: string } | null>({
      event: Joi.string().max(100).default(TEST_KIND).description('The kind that the test pretends to be'),
    }).allow(null),
    response: Joi.object({ deliveryId: Joi.string().uuid().required() }),
    status: 202,
    answers: { 200: Joi.object({ data: deliveryShape.required() }) },
    errors: ['UNKNOWN_EVENT', 'TARGET_OUT_OF_SCOPE'],
    limits: [{ name: 'webhook-test', max: 60, windowSeconds: 60, by: 'actor' }],
    work: 'none',
    handler: (ctx, { params: { id }, query, payload }) =>
      testWebhook(ctx, id, payload?.event ?? TEST_KIND, query.wait === 1),
  }),
  defineRoute({
    method: 'POST',
    path: '/webhooks/{id}/retry/{deliveryId}',
    summary:
      'Sends a message that failed again, with its id and its text, or at once where it waits for a later attempt',
    description:
      'The answer names the delivery that is sent: a new one for a message that failed, the same one where it waits.',
    access: write,
    audit: 'webhook.retry',
    params: Joi.object<{ id: string; deliveryId: string }>({ id: Joi.string().uuid().required(), deliveryId }),
    response: Joi.object({ deliveryId }),
    status: 202,
    errors: ['NOT_FAILED', 'INVALID_STATE', 'ALREADY_PENDING', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id, deliveryId: which } }) => retryDelivery(ctx, id, which),
  }),
  defineRoute({
    method: 'POST',
    path: '/webhooks/{id}/replay',
    summary: 'Sends the messages of a stretch of time again, oldest first, at most 1,000',
    access: write,
    audit: 'webhook.replay',
    params,
    payload: Joi.object<Period>({
      from: Joi.date().iso().required(),
      to: Joi.date().iso().required().description('After `from`'),
      status: Joi.string()
        .valid('failed', 'delivered', 'all')
        .default('failed')
        .description(
          'Messages that failed and have not arrived since, that arrived, or both. Those that wait for a later attempt count as failed',
        ),
    }),
    response: Joi.object({
      queued: Joi.number().integer().required(),
      next: Joi.date().iso().allow(null).required().description('Where there may be more: the `from` to go on with'),
    }),
    status: 202,
    errors: ['INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, payload }) => replayDeliveries(ctx, id, payload),
  }),
];
