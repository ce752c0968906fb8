/** A command ended: with a result, by a timeout or a deadline, or because it was cancelled. */
import Joi from 'joi';
import { defineEvent } from '#core';
import type { CommandSource, CommandStatus } from '../models/command.ts';

interface Finished {
  commandId: string;
  type: string;
  status: CommandStatus;
  exitCode: number | null;
  late: boolean;
  source: CommandSource;
  sourceId: string | null;
}

export default defineEvent({
  summary: 'A command for a device ended',
  data: Joi.object<Finished>({
    commandId: Joi.string().uuid().required(),
    type: Joi.string().required(),
    status: Joi.string().required(),
    exitCode: Joi.number().integer().allow(null).required(),
    late: Joi.boolean().required().description('The result arrived after the server had recorded a timeout'),
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
  webhook: { kind: 'device.command_finished' },
});
