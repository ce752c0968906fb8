/** Errors of this module. */
import { defineError, errors } from '#core';

export const UserExists = defineError('USER_EXISTS', 409, 'User already exists in this scope');
export const UserShared = defineError(
  'USER_SHARED',
  409,
  'The user also belongs to tenants that you do not administer: remove the user from this one instead',
);
export const OwnAccount = defineError('OWN_ACCOUNT', 409, 'You cannot disable or remove yourself');
export const InvitationPending = () =>
  errors.InvalidState({
    message: 'The user has not accepted the invitation yet',
    details: [{ current: 'invited', allowed: ['active', 'disabled'] }],
  });
export const InvitationInvalid = defineError(
  'INVITATION_INVALID',
  400,
  'The invitation is not valid any more; ask for a new one',
);
export const AddressUnproven = defineError(
  'ADDRESS_UNPROVEN',
  409,
  'The account of this address has not confirmed it: log in and confirm the address, or reset the password, and open the link again',
);
export const InvitationOutdated = defineError(
  'INVITATION_OUTDATED',
  409,
  'What this invitation gives access to has been removed since; ask for a new one',
);
