/** /webhooks: where events are sent. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery } from '#core';
import {
  webhookChanged,
  webhookCreate,
  webhookCreated,
  webhookListed,
  webhookShape,
  webhookUpdate,
} from '../models/webhook.ts';
import { updateWebhook } from '../services/changes.ts';
import { kindsOf } from '../services/kinds.ts';
import { createWebhook, deleteWebhook, listWebhooks, readWebhook, type WebhookQuery } from '../services/webhooks.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const read = { permission: 'organizations:read' };
const write = { permission: 'organizations:write', mfa: true };
export default [
  defineRoute({
    method: 'GET',
    path: '/webhooks',
    summary: 'Lists webhooks',
    description:
      'A webhook is switched off when its `disablePolicy` says so; its administrators get mail before that and when it happens.',
    access: read,
    query: Joi.object<WebhookQuery>({
      ...pageQuery(100),
      orgId: Joi.string().uuid(),
      status: Joi.string().valid('active', 'paused', 'failed').description('Only in this state'),
    }),
    response: pageOf(webhookListed),
    handler: (ctx, { query }) => listWebhooks(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/webhooks/event-kinds',
    summary: 'Lists the kinds of events that webhooks can be told of',
    access: read,
    response: Joi.object({
      data: Joi.array()
        .items(Joi.object({ kind: Joi.string().required(), summary: Joi.string().required() }))
        .required(),
    }),
    handler: (ctx) => ({ data: kindsOf(ctx) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/webhooks/{id}',
    summary: 'Reads a webhook',
    access: read,
    params,
    response: Joi.object({ data: webhookShape.required() }),
    handler: (ctx, { params: { id } }) => readWebhook(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/webhooks',
    summary: 'Creates a webhook and shows its secret once',
    access: write,
    audit: 'webhook.create',
    payload: webhookCreate,
    response: Joi.object({ data: webhookCreated.required() }),
    status: 201,
    errors: [
      'TARGET_OUT_OF_SCOPE',
      'OWNER_REQUIRED',
      'URL_BLOCKED',
      'UNKNOWN_EVENT',
      'CREDENTIALS_REQUIRED',
      'WEBHOOK_LIMIT_REACHED',
    ],
    handler: (ctx, { payload }) => createWebhook(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/webhooks/{id}',
    summary: 'Changes, pauses or resumes a webhook, or renews its secret',
    access: write,
    audit: 'webhook.update',
    params,
    payload: webhookUpdate,
    response: Joi.object({ data: webhookChanged.required() }),
    errors: [
      'NO_UPDATES',
      'URL_BLOCKED',
      'UNKNOWN_EVENT',
      'CREDENTIALS_REQUIRED',
      'TARGET_OUT_OF_SCOPE',
      'INVALID_STATE',
    ],
    handler: (ctx, { params: { id }, payload }) => updateWebhook(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/webhooks/{id}',
    summary: 'Removes a webhook and cancels what waits for it',
    access: write,
    audit: 'webhook.delete',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id } }) => deleteWebhook(ctx, id),
  }),
];
