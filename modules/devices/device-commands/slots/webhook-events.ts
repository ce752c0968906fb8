/** The webhook event about commands. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default defineFilling({
  slot: 'webhooks.event',
  value: {
    event: 'device-commands.finished',
    kind: 'device.command_finished',
    summary: 'A command for a device ended',
    shape: Joi.object({
      commandId: Joi.string().uuid().required(),
      type: Joi.string().required(),
      status: Joi.string().required(),
      exitCode: Joi.number().integer().allow(null).required(),
      late: Joi.boolean().required().description('The result came after the command had been given up'),
      source: Joi.string().required(),
      sourceId: Joi.string().allow(null).required(),
    }),
    example: {
      commandId: '7c9e6679-7425-40de-944b-000000000002',
      type: 'reboot',
      status: 'completed',
      exitCode: 0,
      late: false,
      source: 'user',
      sourceId: null,
    },
    snapshot: ({ commandId, type, status, exitCode, late, source, sourceId }: Events['device-commands.finished']) => ({
      commandId,
      type,
      status,
      exitCode,
      late,
      source,
      sourceId,
    }),
  },
});
