/** Every failure in the shape `{ error: { code, message, details } }`, or as RFC 9457 where the caller asks for it. */
import { Boom } from '@hapi/boom';
import type { Logger } from 'pino';
import { databaseErrorOf, outageOf } from '../database/errors.ts';
import {
  AppError,
  declaredErrors,
  defineError,
  InternalError,
  NotFound,
  PayloadTooLarge,
  Unavailable,
  ValidationFailed,
} from '../errors.ts';
import { SealError } from '../settings/seal.ts';
import { errorType } from './document/error-catalog.ts';

export const UnsupportedMediaType = defineError('UNSUPPORTED_MEDIA_TYPE', 415, 'The body must be application/json');
export const SecretUnreadable = defineError(
  'SECRET_UNREADABLE',
  503,
  'A stored secret cannot be read with the encryption key of this server: its operator has to restore the key, or the secret has to be entered anew',
);
export const RequestTimeout = defineError('REQUEST_TIMEOUT', 408, 'The body did not arrive in time');

/** Bytes, escapes, dates and numbers that a column's type refuses. */
const UNSTORABLE = new Set(['22021', '22P05', '22P02', '22007', '22008', '22003']);

/** The error a caller sees for anything thrown. What is not ours is logged whole and answered without detail. */
export function toAppError(thrown: unknown, log: Logger): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof Boom && thrown.output.statusCode < 500) return fromBoom(thrown);
  const error = thrown as Error & { code?: string };
  if (error.code === 'PASSWORD_QUEUE_FULL') {
    return Unavailable({ message: 'Too many logins at once; try again', headers: { 'retry-after': '5' } });
  }
  if (error instanceof SealError) {
    log.error({ code: error.code, cause: error.message }, 'a stored secret cannot be read; run quartermaster doctor');
    return SecretUnreadable();
  }
  const fault = databaseErrorOf(error);
  const outage = outageOf(error);
  if (outage) {
    const { reason, retryAfterSeconds } = outage;
    log.error({ code: fault?.code ?? error.code, cause: fault?.message ?? error.message }, reason);
    return Unavailable({ message: `${reason}; try again`, headers: { 'retry-after': String(retryAfterSeconds) } });
  }
  // PostgreSQL's class 22: of all values only those that came with the request, as a forged position, were not checked.
  if (fault && UNSTORABLE.has(fault.code)) {
    log.warn({ err: error }, 'a value that the database cannot hold');
    return ValidationFailed('A value cannot be used');
  }
  log.error({ err: error }, 'unexpected failure');
  return InternalError();
}

function fromBoom(boom: Boom): AppError {
  const status = boom.output.statusCode;
  if (status === 404) return NotFound('No such path or method');
  if (status === 408) return RequestTimeout();
  if (status === 413) return PayloadTooLarge();
  if (status === 415) return UnsupportedMediaType();
  if (status === 400) return ValidationFailed(boom.message);
  return new AppError(boom.output.payload.error.toUpperCase().replaceAll(/[^A-Z]+/g, '_'), status, boom.message);
}

/** @returns the body and its content type. */
export function errorBody(
  error: AppError,
  accept: string | undefined,
  requestId: string,
): { body: object; type: string } {
  if (accept?.includes('application/problem+json')) {
    return {
      type: 'application/problem+json',
      body: {
        type: errorType(error.code),
        title: declaredErrors().get(error.code)?.message ?? error.code,
        status: error.status,
        detail: error.message,
        instance: `urn:request:${requestId}`,
        code: error.code,
        errors: error.details,
        ...error.beside,
      },
    };
  }
  return {
    type: 'application/json',
    body: { error: { code: error.code, message: error.message, details: error.details }, ...error.beside },
  };
}
