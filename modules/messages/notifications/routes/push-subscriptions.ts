/** /notifications/push-subscriptions: browsers that take push messages for the caller. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { newSubscription, subscriptionShape } from '../models/push-subscription.ts';
import { pushKeys } from '../services/push/keys.ts';
import { listSubscriptions, subscribe, unsubscribe } from '../services/push/subscriptions.ts';

const access = { permission: null, why: 'the browsers are the own ones', apiKey: false };
const work = { platform: 'browsers belong to a user and to no tenant; limited to the own user' };

export default [
  defineRoute({
    method: 'GET',
    path: '/notifications/push-key',
    summary: 'Reads the key that browsers subscribe with',
    description: 'The `applicationServerKey` of `PushManager.subscribe()`.',
    access,
    work: 'none',
    response: Joi.object({ data: Joi.object({ publicKey: Joi.string().required() }).required() }),
    handler: async (ctx) => ({ data: { publicKey: (await pushKeys(ctx)).publicKey } }),
  }),
  defineRoute({
    method: 'GET',
    path: '/notifications/push-subscriptions',
    summary: 'Lists the own browsers that take push messages, newest first',
    access,
    work,
    query: Joi.object<PageQuery>(pageQuery(100)),
    response: pageOf(subscriptionShape),
    handler: (ctx, { query }) => listSubscriptions(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/notifications/push-subscriptions',
    summary: 'Lets a browser take push messages for the caller',
    access,
    audit: 'notification.push.subscribe',
    work,
    payload: newSubscription,
    response: Joi.object({ data: subscriptionShape.required() }),
    status: 201,
    errors: ['URL_BLOCKED', 'PUSH_SUBSCRIPTION_LIMIT_REACHED'],
    handler: (ctx, { payload }) => subscribe(ctx, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/notifications/push-subscriptions/{id}',
    summary: 'Removes one of the own browsers',
    access,
    audit: 'notification.push.unsubscribe',
    work,
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { id } }) => unsubscribe(ctx, id),
  }),
];
