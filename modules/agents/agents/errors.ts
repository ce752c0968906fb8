/** Errors of this module. Agent programs act on their codes. */
import { defineError } from '#core';

export const EnrollmentFailed = defineError('ENROLLMENT_FAILED', 401, 'The enrollment was not accepted');
export const EnrollmentSecretInvalid = defineError(
  'ENROLLMENT_SECRET_INVALID',
  403,
  'The enrollment secret is missing or wrong',
);
export const TenantInactive = defineError('TENANT_INACTIVE', 403, 'The organization or its partner is not active');
export const ReEnrollmentRequired = defineError('RE_ENROLLMENT_REQUIRED', 401, 'The token is suspended; enroll again');
export const TokenSuspended = defineError(
  'TOKEN_SUSPENDED',
  409,
  'The token is suspended and does not identify the machine',
);
export const DeviceDecommissioned = defineError('DEVICE_DECOMMISSIONED', 403, 'The device is decommissioned');
export const RotationConflict = defineError('ROTATION_CONFLICT', 409, 'The tokens have been rotated since');
export const PendingTokenRequired = defineError('PENDING_TOKEN_REQUIRED', 409, 'Confirm with the new token');
export const PendingRotationExpired = defineError(
  'PENDING_ROTATION_EXPIRED',
  409,
  'The new tokens were not confirmed in time; the old ones remain valid',
);
