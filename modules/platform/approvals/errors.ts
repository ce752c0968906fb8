/** Errors of this module. */
import { defineError } from '#core';

/** Thrown when the person who asked, with whatever session or API key, decides about the own request. */
export const SamePerson = defineError('SAME_PERSON', 403, 'Who asked for an approval cannot decide about it');

/** Thrown when what was asked for is not any more as it was when it was asked for. */
export const Stale = defineError('STALE', 409, 'What was asked for has changed: it must be asked for again');

/** Thrown when an organization has as many undecided requests as it may. */
export const ApprovalLimit = defineError(
  'APPROVAL_LIMIT_REACHED',
  409,
  'The organization has too many requests that are not decided',
);
