/** Errors of this module. */
import { defineError } from '#core';

export const ReauthenticationRequired = defineError(
  'REAUTHENTICATION_REQUIRED',
  403,
  'Log in again to change how you log in; this login is too old',
);
export const MfaEnforced = defineError('MFA_ENFORCED', 403, 'The organization requires MFA');
export const SmsNotAllowed = defineError(
  'SMS_NOT_ALLOWED',
  403,
  'The organization does not allow text messages for MFA',
);
export const CodeRefused = defineError('INVALID_CODE', 400, 'The code is not valid');
export const InvalidCredentials = defineError('INVALID_CREDENTIALS', 401, 'Invalid email or password');
export const SsoRequired = defineError('SSO_REQUIRED', 403, 'This organization logs in through its identity provider');
export const TempTokenInvalid = defineError('TEMP_TOKEN_INVALID', 401, 'The login has expired; log in again');
export const CodeWrong = defineError('INVALID_MFA_CODE', 401, 'The code is not valid');
export const CsrfRequired = defineError('CSRF_REQUIRED', 403, 'The header x-svc-csrf is required');
export const RefreshInvalid = defineError('REFRESH_INVALID', 401, 'The refresh token is not valid or has expired');
export const WeakPassword = defineError('WEAK_PASSWORD', 400, 'The password is too easy to guess');
export const CurrentPasswordWrong = defineError('CURRENT_PASSWORD_WRONG', 400, 'The current password is not right');
export const AddressProofInvalid = defineError(
  'ADDRESS_PROOF_INVALID',
  400,
  'The link is not valid or has expired; ask for another',
);
export const ResetTokenInvalid = defineError('RESET_TOKEN_INVALID', 400, 'The reset link is not valid or has expired');
