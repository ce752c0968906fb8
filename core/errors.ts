/** Errors that reach callers: each has a stable code, a status and a message, and is declared once. */

export interface ErrorExtras {
  message?: string;
  details?: unknown[];
  /** Fields beside `error` in the body, for the few answers whose shape is fixed (`retryAfter`). */
  beside?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** The error that led to this one; it is logged and never sent to the caller. */
  cause?: unknown;
}

const LIMITED_SECONDS = '30';

export class AppError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: unknown[];
  readonly beside: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(code: string, status: number, message: string, extras: ErrorExtras = {}) {
    super(extras.message ?? message, 'cause' in extras ? { cause: extras.cause } : {});
    this.name = 'AppError';
    this.code = code;
    this.status = status;
    this.details = extras.details ?? [];
    this.beside = extras.beside ?? {};
    // A caller that is limited always learns when to come back; where it is known better, the header says so.
    this.headers = { ...(status === 429 ? { 'retry-after': LIMITED_SECONDS } : {}), ...extras.headers };
  }
}

export type ErrorMaker = ((extras?: ErrorExtras | string) => AppError) & { code: string; status: number };

interface Declaration {
  status: number;
  message: string;
  /** File and line. */
  declaredAt: string;
}
const declared = new Map<string, Declaration>();

/** The file and line that called the function which calls this one. */
const callerOf = (stack = ''): string =>
  /(?:file:\/\/)?(\/[^()]+:\d+):\d+\)?$/.exec(stack.split('\n')[2] ?? '')?.[1] ?? '';

/**
 * Declares an error once for the installation. The result makes the error:
 * `throw NameTaken({ message: 'There is a site of this name', details, cause })`.
 * Throws when the code is declared already: codes that several modules use are declared in core.
 */
export function defineError(code: string, status: number, message: string): ErrorMaker {
  const declaredAt = callerOf(new Error().stack);
  const known = declared.get(code);
  if (known) throw new Error(`the error ${code} is declared twice, in ${known.declaredAt} and in ${declaredAt}`);
  declared.set(code, { status, message, declaredAt });
  const make = (extras: ErrorExtras | string = {}) =>
    new AppError(code, status, message, typeof extras === 'string' ? { message: extras } : extras);
  return Object.assign(make, { code, status });
}

/** Every code declared so far, for the catalogue in the API document. */
export function declaredErrors(): ReadonlyMap<string, Declaration> {
  return declared;
}

/** Thrown when the request does not fit the operation's schema, or its values contradict each other. */
export const ValidationFailed = defineError('VALIDATION_ERROR', 400, 'The request is not valid');
/** Thrown when an update has no fields. */
export const NoUpdates = defineError('NO_UPDATES', 400, 'No updates provided');
/** Thrown when a caller who reaches several organizations names none. */
export const OrgRequired = defineError('ORG_REQUIRED', 400, 'orgId is required');
/** Thrown when an organization has several sites, none of them the default, and the request names none. */
export const SiteRequired = defineError('SITE_REQUIRED', 400, 'The organization has no default site: name one');
/** Thrown when a list is continued with a cursor of another list or order. */
export const InvalidCursor = defineError('INVALID_CURSOR', 400, 'The cursor does not belong to this list and order');
/** Thrown when a URL leads to an address that the server must not call. */
export const UrlBlocked = defineError('URL_BLOCKED', 400, 'The URL may not be called');
/** Thrown when a change of the destination keeps stored secrets, which would then be sent to someone else. */
export const CredentialsRequired = defineError(
  'CREDENTIALS_REQUIRED',
  400,
  'Another destination requires the secrets again',
);
/** Thrown when a request has no valid credentials. */
export const Unauthenticated = defineError('UNAUTHENTICATED', 401, 'Authentication required');
/** Thrown when the caller lacks the permission. */
export const Forbidden = defineError('FORBIDDEN', 403, 'Permission denied');
/** Thrown when an API key lacks the scope. */
export const ScopeRequired = defineError('SCOPE_REQUIRED', 403, 'API key does not have required permissions');
/** Thrown when the caller's partner is suspended or deleted. */
export const PartnerInactive = defineError('PARTNER_INACTIVE', 403, 'Partner is not active');
/** Thrown when a session that has not passed its second factor calls an operation that requires it. */
export const MfaVerificationRequired = defineError('MFA_VERIFICATION_REQUIRED', 403, 'MFA verification required');
/** Thrown when the caller names an organization that it does not reach. */
export const OrgAccessDenied = defineError('ORG_ACCESS_DENIED', 403, 'Access to this organization denied');
/** Thrown when the caller names a site that it does not reach. */
export const SiteAccessDenied = defineError('SITE_ACCESS_DENIED', 403, 'Access to this site denied');
/** Thrown when an operation affects devices or users outside the caller's sites and groups. */
export const TargetOutOfScope = defineError(
  'TARGET_OUT_OF_SCOPE',
  403,
  'The operation reaches beyond your sites or groups',
);
/** Thrown when an agent of a quarantined device calls an operation that is not open to it. */
export const DeviceQuarantined = defineError('DEVICE_QUARANTINED', 403, 'The device is quarantined');
/** Thrown when the module of the operation is switched off for the whole installation. */
export const ModuleDisabled = defineError('MODULE_DISABLED', 404, 'This feature is switched off');
/** MODULE_DISABLED with 403: the module is off for this organization and on for others. */
export const moduleOffHere = (module: string, reason: string): AppError =>
  new AppError('MODULE_DISABLED', 403, 'This feature is switched off for this organization', {
    details: [{ module, reason }],
  });
/** Thrown when the object does not exist or the caller does not reach it. */
export const NotFound = defineError('NOT_FOUND', 404, 'Not found');
/** Thrown when the state of the object does not allow the change. */
export const InvalidState = defineError('INVALID_STATE', 409, 'The current state does not allow this');
/** Thrown when a device already has an equal command that is not finished. */
export const AlreadyPending = defineError('ALREADY_PENDING', 409, 'The same command is already pending');
/** Thrown when another object of the tenant has the name. */
export const NameTaken = defineError('NAME_TAKEN', 409, 'The name is already in use');
/** Thrown when an object cannot be deleted because others refer to it. */
export const InUse = defineError('IN_USE', 409, 'The object is in use');
/** Thrown when something cannot be switched off or removed while what requires it is in use. */
export const HasDependents = defineError('HAS_DEPENDENTS', 409, 'Others require this one');
/** Thrown when a change would leave a tenant without an administrator. */
export const LastAdministrator = defineError('LAST_ADMINISTRATOR', 409, 'The last administrator cannot be removed');
/** Thrown when the server no longer has the changes after a cursor; the caller must read the whole list again. */
export const CursorExpired = defineError('CURSOR_EXPIRED', 410, 'The cursor cannot be continued: start again');
/** Thrown when an agent of a removed device calls. */
export const DeviceGone = defineError('DEVICE_GONE', 410, 'The device no longer exists');
/** Thrown when the body is larger than the operation accepts. */
export const PayloadTooLarge = defineError('PAYLOAD_TOO_LARGE', 413, 'The request body is too large');
/** Thrown when the role or organization requires a second factor and the user has none. */
export const MfaRequired = defineError('MFA_REQUIRED', 428, 'Enroll an authenticator app to continue');
/** Thrown when the caller exceeds a rate limit. */
export const RateLimited = defineError('RATE_LIMITED', 429, 'Too many requests');
/** Thrown when a tenant has as many event streams open as it may. */
export const TooManyStreams = defineError('TOO_MANY_STREAMS', 429, 'Too many streams are open for this tenant');
/** Thrown for every error that is not declared. */
export const InternalError = defineError('INTERNAL_ERROR', 500, 'Internal error');
/** Thrown when a handler did not record the audit action that its route declares. */
export const AuditMissing = defineError('AUDIT_MISSING', 500, 'A promised audit entry was not recorded');
/** Thrown when the database, the counter store or another service is not reachable. */
export const Unavailable = defineError('UNAVAILABLE', 503, 'A service this needs is not reachable');
