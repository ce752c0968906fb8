/** Errors that reach callers: each has a stable code, a status and a message, and is declared once. */

export interface ErrorExtras {
  message?: string;
  details?: unknown[];
  /** Fields beside `error` in the body, for the few answers whose shape is fixed (`retryAfter`). */
  beside?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export class AppError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: unknown[];
  readonly beside: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(code: string, status: number, message: string, extras: ErrorExtras = {}) {
    super(extras.message ?? message);
    this.name = 'AppError';
    this.code = code;
    this.status = status;
    this.details = extras.details ?? [];
    this.beside = extras.beside ?? {};
    this.headers = extras.headers ?? {};
  }
}

export type ErrorMaker = ((extras?: ErrorExtras | string) => AppError) & { code: string; status: number };

const declared = new Map<string, { status: number; message: string }>();

/** Declares an error; the same code may be declared again only with the same status. */
export function defineError(code: string, status: number, message: string): ErrorMaker {
  const known = declared.get(code);
  if (known && known.status !== status) throw new Error(`error ${code} is declared with ${known.status} and ${status}`);
  declared.set(code, { status, message });
  const make = (extras: ErrorExtras | string = {}) =>
    new AppError(code, status, message, typeof extras === 'string' ? { message: extras } : extras);
  return Object.assign(make, { code, status });
}

/** Every code declared so far, for the catalogue in the API document. */
export function declaredErrors(): ReadonlyMap<string, { status: number; message: string }> {
  return declared;
}

export const ValidationFailed = defineError('VALIDATION_ERROR', 400, 'The request is not valid');
export const NoUpdates = defineError('NO_UPDATES', 400, 'No updates provided');
export const OrgRequired = defineError('ORG_REQUIRED', 400, 'orgId is required');
export const InvalidCursor = defineError('INVALID_CURSOR', 400, 'The cursor does not belong to this list and order');
export const Unauthenticated = defineError('UNAUTHENTICATED', 401, 'Authentication required');
export const Forbidden = defineError('FORBIDDEN', 403, 'Permission denied');
export const ScopeRequired = defineError('SCOPE_REQUIRED', 403, 'API key does not have required permissions');
export const PartnerInactive = defineError('PARTNER_INACTIVE', 403, 'Partner is not active');
export const MfaVerificationRequired = defineError('MFA_VERIFICATION_REQUIRED', 403, 'MFA verification required');
export const OrgAccessDenied = defineError('ORG_ACCESS_DENIED', 403, 'Access to this organization denied');
export const SiteAccessDenied = defineError('SITE_ACCESS_DENIED', 403, 'Access to this site denied');
export const ModuleDisabled = defineError('MODULE_DISABLED', 404, 'This feature is switched off');
/** The same for one tenant: others have the feature. */
export const moduleOffHere = (module: string, reason: string): AppError =>
  new AppError('MODULE_DISABLED', 403, 'This feature is switched off for this organization', {
    details: [{ module, reason }],
  });
export const NotFound = defineError('NOT_FOUND', 404, 'Not found');
export const InvalidState = defineError('INVALID_STATE', 409, 'The current state does not allow this');
export const AlreadyPending = defineError('ALREADY_PENDING', 409, 'The same command is already pending');
export const NameTaken = defineError('NAME_TAKEN', 409, 'The name is already in use');
export const InUse = defineError('IN_USE', 409, 'The object is in use');
export const LastAdministrator = defineError('LAST_ADMINISTRATOR', 409, 'The last administrator cannot be removed');
/** A position in changes or events after which some may be missing: the client starts again. */
export const CursorExpired = defineError('CURSOR_EXPIRED', 410, 'The cursor cannot be continued: start again');
export const PayloadTooLarge = defineError('PAYLOAD_TOO_LARGE', 413, 'The request body is too large');
export const MfaRequired = defineError('MFA_REQUIRED', 428, 'Enroll an authenticator app to continue');
export const RateLimited = defineError('RATE_LIMITED', 429, 'Too many requests');
export const InternalError = defineError('INTERNAL_ERROR', 500, 'Internal error');
export const AuditMissing = defineError('AUDIT_MISSING', 500, 'A promised audit entry was not recorded');
export const Unavailable = defineError('UNAVAILABLE', 503, 'A service this needs is not reachable');
