/** The maintenance mode of a device began. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device went into maintenance',
  data: Joi.object<{ hostname: string; until: string }>({
    hostname: Joi.string().required(),
    until: Joi.string().isoDate().required(),
  }),
  example: { hostname: 'WS-0142', until: '2026-11-02T10:30:00.000Z' },
  webhook: { kind: 'maintenance.started' },
});
