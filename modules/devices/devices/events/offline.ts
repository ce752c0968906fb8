/** A device has not reported for longer than its organization allows. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device went offline',
  data: Joi.object<{ hostname: string; lastSeenAt: string }>({
    hostname: Joi.string().required(),
    lastSeenAt: Joi.string().isoDate().required(),
  }),
  example: { hostname: 'WS-0142', lastSeenAt: '2026-11-02T09:30:00.000Z' },
  webhook: { kind: 'device.offline' },
});
