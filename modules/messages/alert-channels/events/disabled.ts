/** An alert channel was switched off because its messages fail; it sends nothing until it is changed or enabled. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Disabled {
  channelId: string;
  partnerId: string | null;
  name: string;
  type: string;
  error: string;
  consecutiveFailures: number;
}

export default defineEvent({
  summary: 'A channel of alerts was switched off because it fails',
  data: Joi.object<Disabled>({
    channelId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    name: Joi.string().required(),
    type: Joi.string().required(),
    error: Joi.string().allow('').required(),
    consecutiveFailures: Joi.number().integer().required(),
  }),
  example: {
    channelId: '7c9e6679-7425-40de-944b-000000000001',
    partnerId: null,
    name: 'On call',
    type: 'slack',
    error: 'HTTP 404: no_service',
    consecutiveFailures: 50,
  },
  notice: {
    tell: {
      type: 'alert',
      priority: 'high',
      permission: 'alerts:write',
      render: ({ channelId, partnerId, name, error, consecutiveFailures }) => ({
        title: `Alert channel switched off: ${name}`,
        message: `${consecutiveFailures} messages in a row failed, the last with: ${error}. Nothing is sent to it until it is enabled again.`,
        link: `/alerts/channels/${channelId}`,
        metadata: { channelId },
        dedupeKey: `alert-channel:${channelId}`,
        partnerId,
      }),
    },
  },
});
