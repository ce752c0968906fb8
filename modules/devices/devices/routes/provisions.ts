/** POST /devices/provision. */
import { defineRoute } from '#core';
import { provisioned, provisionRequest } from '../models/provision.ts';
import { provision } from '../services/life/provisions.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/devices/provision',
    summary: 'Creates a device before its agent enrolls, with a token for one machine',
    access: { permission: 'devices:write', mfa: true },
    audit: 'device.create',
    payload: provisionRequest,
    response: provisioned,
    status: 201,
    errors: [
      ...[
        'ORG_REQUIRED',
        'ORG_ACCESS_DENIED',
        'SITE_ACCESS_DENIED',
        'SITE_REQUIRED',
        'NOT_FOUND',
        'HOSTNAME_COLLISION',
      ],
      ...['DEVICE_LIMIT_REACHED', 'TARGET_OUT_OF_SCOPE'],
    ],
    work: { platform: 'the device limit of the partner counts in organizations that the caller may not reach' },
    handler: (ctx, input) => provision(ctx, input.payload),
  }),
];
