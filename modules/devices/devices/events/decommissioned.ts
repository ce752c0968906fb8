/** A device was decommissioned. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device was decommissioned',
  data: Joi.object<{ hostname: string; uninstall: boolean }>({
    hostname: Joi.string().required(),
    uninstall: Joi.boolean().required().description('Whether the agent removes itself'),
  }),
  example: { hostname: 'WS-0142', uninstall: true },
  webhook: { kind: 'device.decommissioned' },
});
