/** Errors that plugins throw to say what should happen next, and those they get from the host. */

/** Try again, after so many milliseconds or when the host thinks fit. Any other error is tried again as well. */
export class RetryableError extends Error {
  readonly code = 'RETRYABLE';
  readonly afterMs: number | null;

  constructor(message: string, afterMs: number | null = null) {
    super(message);
    this.name = 'RetryableError';
    this.afterMs = afterMs;
  }
}

/** Do not try again: it would fail the same way. */
export class PermanentError extends Error {
  readonly code = 'PERMANENT';

  constructor(message: string) {
    super(message);
    this.name = 'PermanentError';
  }
}

export const HOST_ERROR_CODES = [
  'UNKNOWN_METHOD',
  'INVALID_PARAMS',
  /** The capability was not granted. */
  'PERMISSION_DENIED',
  /** The host is not among those that the manifest names, or may not be called at all. */
  'EGRESS_DENIED',
  /** The installation lacks what this would need. */
  'NOT_AVAILABLE',
  'NOT_FOUND',
  /** The compare-and-set found another version. */
  'CONFLICT',
  'RATE_LIMITED',
  'QUOTA_EXCEEDED',
  'TOO_LARGE',
  /** The invocation has ended, or never was. */
  'INVALID_TOKEN',
  'UPSTREAM_ERROR',
  'INTERNAL',
] as const;
export type HostErrorCode = (typeof HOST_ERROR_CODES)[number];

/** What a call of the host API rejects with. */
export class HostError extends Error {
  readonly code: HostErrorCode;

  constructor(code: HostErrorCode, message: string) {
    super(message);
    this.name = 'HostError';
    this.code = code;
  }
}

/** An error as it crosses between the processes. */
export interface WireError {
  code: string;
  message: string;
  afterMs?: number;
}

export function toWireError(error: unknown): WireError {
  const given = error as { code?: unknown; message?: unknown; afterMs?: unknown } | null;
  const isError = typeof error === 'object' && error !== null;
  const code = isError && typeof given?.code === 'string' ? given.code.slice(0, 64) : 'ERROR';
  const message = (isError && typeof given?.message === 'string' ? given.message : String(error)).slice(0, 2_000);
  const afterMs = isError && typeof given?.afterMs === 'number' && given.afterMs >= 0 ? given.afterMs : null;
  return { code, message, ...(afterMs === null ? {} : { afterMs }) };
}
