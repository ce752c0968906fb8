/** POST /agents/enroll: turns a machine into a device. */

import { enrolledShape, enrollmentBody } from '#agent-protocol/schemas';
import { defineRoute, named } from '#core';
import { enrollAgent } from '../services/enrollments.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/enroll',
    summary: 'Enrolls a machine with an enrollment key and returns the tokens of its agent',
    access: { open: 'the enrollment key in the body determines the organization' },
    work: { platform: 'the organization is known only after the lookup of the key' },
    audit: 'device.create',
    limits: [{ name: 'agents-enroll', max: 30, windowSeconds: 60, by: 'ip' }],
    payload: named('AgentEnrollment', enrollmentBody),
    response: named('AgentEnrolled', enrolledShape),
    status: 201,
    errors: [
      'DEVICE_LIMIT_REACHED',
      'DEVICE_QUARANTINED',
      'ENROLLMENT_FAILED',
      'ENROLLMENT_SECRET_INVALID',
      'TENANT_INACTIVE',
      'SITE_REQUIRED',
      'TOKEN_SUSPENDED',
      'RATE_LIMITED',
    ],
    handler: (ctx, input) => enrollAgent(ctx, input),
  }),
];
