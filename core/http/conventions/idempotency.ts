/** `Idempotency-Key`: a request that is sent again gets the answer of the first and changes nothing. */
import { Readable } from 'node:stream';
import type { Context } from '../../context/index.ts';
import type { AnyRoute, Input } from '../../contract/index.ts';
import { defineError, ValidationFailed } from '../../errors.ts';
import { Reply, reply } from '../reply.ts';

const LONGEST = 128;
export const IdempotencyMismatch = defineError(
  'IDEMPOTENCY_MISMATCH',
  409,
  'This Idempotency-Key came with another request',
);

/** Every write of signed-in callers and of keys that does its work in a transaction and answers with JSON. */
export const heedsKey = ({ method, access, produces, work, idempotent }: AnyRoute): boolean =>
  idempotent === 'handler' || (method !== 'GET' && 'permission' in access && !produces && work !== 'none');

interface Kept {
  request_hash: string;
  status: number | null;
  /** Sealed: it may hold a secret that is shown once, such as a new key. */
  answer: string | null;
}

/**
 * Runs `handle` once for each key of a caller and route in 24 hours, in the transaction of the work: undone with it, and
 * a second request with the key waits meanwhile. Throws VALIDATION_ERROR for a bad key, IDEMPOTENCY_MISMATCH for another body.
 * @returns the answer of the first request as a Reply when this is not the first
 */
export async function once(
  ctx: Context,
  route: AnyRoute,
  input: Input,
  handle: () => Promise<unknown>,
): Promise<{ answer: unknown; replayed: boolean }> {
  if (!heedsKey(route) || route.idempotent === 'handler') return { answer: await handle(), replayed: false };
  const { answer, replayed, status } = await onceForKey(
    ctx,
    `${route.method} ${route.path}`,
    input,
    handle,
    route.status,
  );
  return replayed
    ? { answer: reply(answer, { status: status ?? 200, headers: { 'idempotency-replayed': 'true' } }), replayed }
    : { answer, replayed };
}

/**
 * The same for handlers that must not wait within a transaction: `make` runs once for each key of a caller and `place`, in
 * the transaction of `ctx`, and its result (JSON) is the answer to every later request with the same key.
 */
export async function onceForKey<T>(
  ctx: Context,
  place: string,
  input: Pick<Input, 'headers' | 'params' | 'query' | 'payload'>,
  make: () => Promise<T>,
  usual = 200,
): Promise<{ answer: T; replayed: boolean; status: number | null }> {
  const key = input.headers['idempotency-key'];
  if (key === undefined) return { answer: await make(), replayed: false, status: null };
  if (key === '' || key.length > LONGEST) {
    const message = `Idempotency-Key has 1 to ${LONGEST} characters`;
    throw ValidationFailed({ message, details: [{ in: 'headers', path: 'idempotency-key', message }] });
  }
  const { seal, mac } = ctx.services;
  const { params, query, payload } = input;
  const caller = `${ctx.actor.kind}:${ctx.actor.id}`;
  const keyed = [caller, place, key];
  const sealed = { table: 'idempotency_keys', column: 'answer', row: JSON.stringify(keyed) };
  // An HMAC: with a plain hash, a reader of the table could try passwords against it.
  const hash = mac('idempotency', JSON.stringify([params, query, payload]));
  const { rows } = await ctx.sql<Kept>('select * from take_idempotency_key($1, $2, $3, $4)', [...keyed, hash]);
  const [kept] = rows;
  if (!kept) {
    const answer = await make();
    const { body, status } =
      answer instanceof Reply ? { body: answer.body, ...answer.options } : { body: answer as unknown };
    if (body instanceof Readable) throw new Error(`${place} streams without saying what it produces`);
    ctx.withCommit('keep_idempotent_answers', {
      caller,
      route: place,
      key,
      status: status ?? usual,
      answer: seal.seal(JSON.stringify(body ?? null), sealed),
    });
    return { answer, replayed: false, status: null };
  }
  if (kept.request_hash !== hash || kept.answer === null) throw IdempotencyMismatch();
  return { answer: JSON.parse(seal.open(kept.answer, sealed)) as T, replayed: true, status: kept.status };
}
