/** Errors of this module. */
import { defineError } from '#core';

export const OrgRequired = defineError('ORG_REQUIRED', 400, 'orgId is required for partner scope');
export const TooExpensive = defineError('FILTER_TOO_EXPENSIVE', 400, 'The conditions take too long to evaluate');
