/** What webhooks are told of tags. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default [
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'tags.renamed',
      kind: 'device.tag_renamed',
      summary: 'A tag was renamed on all devices that have it',
      shape: Joi.object({
        from: Joi.string().required(),
        to: Joi.string().required(),
        devices: Joi.number().integer().required().description('How many had it'),
      }),
      example: { from: 'lab', to: 'laboratory', devices: 14 },
      snapshot: ({ from, to, devices }: Events['tags.renamed']) => ({ from, to, devices }),
    },
  }),
];
