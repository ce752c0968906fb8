/** Errors of this module, and the reasons why a login fails. */
import { defineError } from '#core';

export const SecretRequired = defineError(
  'CLIENT_SECRET_REQUIRED',
  400,
  'Another issuer needs the client secret again, or null for none',
);
export const AlreadyActive = defineError(
  'SSO_PROVIDER_ACTIVE',
  409,
  'Another provider of this organization is active; set it to inactive first',
);
export const NotProven = defineError(
  'SSO_NOT_PROVEN',
  409,
  'Passwords would stop working before the provider is proven: first log in through this provider, or test it successfully',
);
export const CodeInvalid = defineError('SSO_CODE_INVALID', 401, 'The login has expired or was used; log in again');

/** The values of `/login?error=<code>`; the login page has a text for each. */
export type LoginErrorCode =
  | 'session_expired'
  | 'provider_not_found'
  | 'domain_not_allowed'
  | 'user_not_found'
  | 'default_role_required'
  | 'no_org_access'
  | 'access_denied'
  | 'email_missing'
  | 'email_not_verified'
  | 'invalid_response'
  | 'link_refused'
  | 'provider_error'
  | 'provider_unreachable';

/** Ends a login on its way; undoes what its transaction did. The message is for the log and the trail, not the browser. */
export class LoginRefused extends Error {
  readonly code: LoginErrorCode;
  /** Whom the trail names, where the account is known. */
  readonly user: { id: string; email: string } | null;

  constructor(
    code: LoginErrorCode,
    message: string,
    user: { id: string; email: string } | null = null,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'LoginRefused';
    this.code = code;
    this.user = user;
  }
}
