/** A device was enrolled, or its existing row was taken over by a machine that enrolled again. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Enrolled {
  hostname: string;
  via: string;
  possibleReplacementOf: string | null;
  /** The device that it may replace reported within the last day: probably a clone. */
  cloneSuspected: boolean;
}

export default defineEvent({
  summary: 'A device was enrolled',
  data: Joi.object<Enrolled>({
    hostname: Joi.string().required(),
    via: Joi.string().required().description('How: `enrollment_key`, `provision` or `reattach`'),
    possibleReplacementOf: Joi.string()
      .uuid()
      .allow(null)
      .required()
      .description('An existing device of the same site that may be the same machine'),
    cloneSuspected: Joi.boolean().required().description('That device reported within the last 24 hours'),
  }),
  example: { hostname: 'WS-0142', via: 'enrollment_key', possibleReplacementOf: null, cloneSuspected: false },
  webhook: { kind: 'device.enrolled' },
  notice: {
    summary: 'A device that was enrolled may be a clone of another',
    tell: {
      type: 'security',
      priority: 'high',
      permission: 'devices:read',
      render: ({ hostname, cloneSuspected }, { device }, { deviceId }) =>
        cloneSuspected
          ? {
              title: `${device ?? hostname} may be a clone`,
              message: 'It says that it is a machine which was seen within a day as another device.',
              link: `/devices/${deviceId}`,
              metadata: { deviceId },
              dedupeKey: `clone:${deviceId}`,
            }
          : null,
    },
  },
});
