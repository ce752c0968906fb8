/** Errors of this module. */
import { defineError } from '#core';

export const OrgLimitReached = defineError(
  'ORG_LIMIT_REACHED',
  403,
  'The partner has reached its number of organizations',
);
export const PartnerDenied = defineError('PARTNER_ACCESS_DENIED', 403, 'Access denied to this partner');
