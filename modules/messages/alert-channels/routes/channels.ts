/** /alerts/channels: where alerts are sent, and test messages. */
import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import { channelCreate, channelQuery, channelShape, channelUpdate } from '../models/channel.ts';
import * as channels from '../services/channels.ts';
import { testChannel } from '../services/tests.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const read = { permission: 'alerts:read' };
const write = { permission: 'alerts:write' };
const one = Joi.object({ data: channelShape.required() });
const CONFIG = [
  'The configuration by type: `email` {to[1-50], subjectPrefix?}; `slack` and `teams` {webhookUrl};',
  '`webhook` {url, method POST or PUT, headers up to 20 of {key, value}, secret}; `pagerduty` {routingKey, severityMap?};',
  '`sms` {numbers, 1-20 in E.164}; `plugin` {plugin: slug, provider: key, settings? by its inputSchema}, for a plugin that is',
  'enabled in the organization. Secrets are never shown again.',
].join(' ');

export default [
  defineRoute({
    method: 'GET',
    path: '/alerts/channels',
    summary: 'Lists channels that alerts are sent to',
    access: read,
    query: channelQuery,
    response: pageOf(channelShape),
    errors: ['ORG_ACCESS_DENIED', 'INVALID_CURSOR'],
    handler: (ctx, { query }) => channels.listChannels(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/alerts/channels/{id}',
    summary: 'Reads a channel',
    access: read,
    params,
    response: one,
    handler: (ctx, { params: { id } }) => channels.readChannel(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/alerts/channels',
    summary: 'Creates a channel',
    description: CONFIG,
    access: write,
    audit: 'notification_channel.create',
    payload: channelCreate,
    response: Joi.object({
      data: channelShape
        .keys({
          made: Joi.object().unknown().description('Secrets that were made for it: shown here and never again'),
        })
        .required(),
    }),
    status: 201,
    errors: ['OWNER_REQUIRED', 'TARGET_OUT_OF_SCOPE', 'UNKNOWN_CHANNEL_TYPE', 'URL_BLOCKED'],
    handler: (ctx, { payload }) => channels.createChannel(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/alerts/channels/{id}',
    summary: 'Changes a channel, or takes it back into service',
    description: CONFIG,
    access: write,
    audit: 'notification_channel.update',
    params,
    payload: channelUpdate,
    response: one,
    errors: ['NO_UPDATES', 'TARGET_OUT_OF_SCOPE', 'URL_BLOCKED', 'CREDENTIALS_REQUIRED'],
    handler: (ctx, { params: { id }, payload }) => channels.updateChannel(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/alerts/channels/{id}',
    summary: 'Removes a channel that nothing names',
    access: write,
    audit: 'notification_channel.delete',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['TARGET_OUT_OF_SCOPE', 'IN_USE'],
    handler: (ctx, { params: { id } }) => channels.deleteChannel(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/alerts/channels/{id}/test',
    summary: 'Sends a test to a channel and says what came of it',
    description: 'Answers 200 also when the other side refused the message.',
    access: write,
    audit: 'notification_channel.test',
    work: 'none',
    params,
    limits: [
      { name: 'channel-test', max: 5, windowSeconds: 60, by: ({ params: { id } }: { params: { id: string } }) => id },
    ],
    response: Joi.object({
      data: Joi.object({
        success: Joi.boolean().required(),
        status: Joi.number().integer().allow(null).required(),
        latencyMs: Joi.number().integer().required(),
        providerStatus: Joi.number().integer().allow(null).required().description('HTTP status; the same as status'),
        providerMessage: Joi.string().allow('').required(),
        error: Joi.string().allow(''),
      }).required(),
    }),
    errors: ['TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id } }) => testChannel(ctx, id),
  }),
];
