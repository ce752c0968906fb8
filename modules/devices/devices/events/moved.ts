/** A device moved to another organization: emitted in both, `out` in the one that it leaves and `in` in the one that it joins. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device left or joined an organization or site',
  data: Joi.object<{ hostname: string; direction: 'out' | 'in' }>({
    hostname: Joi.string().required(),
    direction: Joi.string().valid('out', 'in').required().description('The event is sent to both organizations'),
  }),
  example: { hostname: 'WS-0142', direction: 'out' },
  webhook: { kind: 'device.moved' },
});
