/** What webhooks are told of device groups. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const groupId = Joi.string().uuid().required();
const devices = Joi.array().items(Joi.string().uuid()).max(1000).required().description('Devices, by their ids');

export default [
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'device-groups.membership.changed',
      kind: 'group.membership_changed',
      summary: 'Devices joined or left a group',
      shape: Joi.object({
        groupId,
        evaluationId: Joi.string().uuid().allow(null).required().description('Null where somebody did it by hand'),
        added: devices,
        removed: devices,
      }),
      example: {
        groupId: '7c9e6679-7425-40de-944b-000000000001',
        evaluationId: null,
        added: ['7c9e6679-7425-40de-944b-000000000002'],
        removed: [],
      },
      snapshot: ({ groupId, evaluationId, added, removed }: Events['device-groups.membership.changed']) => ({
        groupId,
        evaluationId,
        added,
        removed,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'device-groups.mass_change',
      kind: 'group.mass_change',
      summary: 'More than half of a group left by itself',
      shape: Joi.object({
        groupId,
        name: Joi.string().required(),
        removed: Joi.number().integer().required(),
        of: Joi.number().integer().required(),
      }),
      example: { groupId: '7c9e6679-7425-40de-944b-000000000001', name: 'Servers', removed: 8, of: 12 },
      snapshot: ({ groupId, name, removed, of }: Events['device-groups.mass_change']) => ({
        groupId,
        name,
        removed,
        of,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'device-groups.evaluation.failed',
      kind: 'group.evaluation_failed',
      summary: 'The filter of a group could not be evaluated',
      shape: Joi.object({ groupId, name: Joi.string().required(), error: Joi.string().required() }),
      example: {
        groupId: '7c9e6679-7425-40de-944b-000000000001',
        name: 'Servers',
        error: 'The conditions take too long to evaluate',
      },
      snapshot: ({ groupId, name, error }: Events['device-groups.evaluation.failed']) => ({ groupId, name, error }),
    },
  }),
];
