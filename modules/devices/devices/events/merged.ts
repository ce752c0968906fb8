/** Two rows of one machine were merged; the event is about the device that remains. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'Two devices turned out to be one',
  data: Joi.object<{ hostname: string; mergedDeviceId: string }>({
    hostname: Joi.string().required(),
    mergedDeviceId: Joi.string()
      .uuid()
      .required()
      .description('The device that no longer exists; `deviceId` is the one that remains'),
  }),
  example: { hostname: 'WS-0142', mergedDeviceId: '7c9e6679-7425-40de-944b-000000000002' },
  webhook: { kind: 'device.merged' },
});
