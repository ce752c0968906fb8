/** What becomes of what is thrown. */
import { clientTimeout, entityTooLarge, unsupportedMediaType } from '@hapi/boom';
import test from 'ava';
import { pino } from 'pino';
import { PasswordQueueFullError } from '../../auth/passwords.ts';
import { toAppError } from '../envelope.ts';

const log = pino({ level: 'silent' });
const seen = (thrown: unknown) => {
  const { status, code, headers } = toAppError(thrown, log);
  return { status, code, retryAfter: headers['retry-after'] };
};

test('too many passwords at once is for the client to try again', (t) => {
  t.deepEqual(seen(new PasswordQueueFullError()), { status: 503, code: 'UNAVAILABLE', retryAfter: '5' });
});

test('a database that is away is for the client to try again', (t) => {
  for (const error of [
    Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
    new Error('timeout exceeded when trying to connect'),
  ]) {
    t.deepEqual(seen(error), { status: 503, code: 'UNAVAILABLE', retryAfter: '5' });
  }
});

test('what hapi refuses keeps its status, with codes that are words', (t) => {
  t.like(seen(unsupportedMediaType()), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  t.like(seen(entityTooLarge()), { status: 413, code: 'PAYLOAD_TOO_LARGE' });
  t.like(seen(clientTimeout()), { status: 408, code: 'REQUEST_TIMEOUT' });
});

test('what nobody expected says nothing of itself', (t) => {
  const error = toAppError(new Error('password=hunter2'), log);
  t.deepEqual([error.status, error.code, error.message], [500, 'INTERNAL_ERROR', 'Internal error']);
});
