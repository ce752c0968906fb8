/** POST /devices/provision. */
import { defineRoute } from '#core';
import { provisioned, provisionOrder } from '../models/provision.ts';
import { provision } from '../services/life/provisions.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/devices/provision',
    summary: 'Makes a device before its machine reports, with a token that lets one machine be it',
    access: { permission: 'devices:write', mfa: true },
    audit: 'device.create',
    payload: provisionOrder,
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
