/** `Idempotency-Key`: a request that is sent again gets the answer of the first and changes nothing (domain/00-conventions, 2). */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import type { AnyRoute, Input } from '../contract.ts';
import { defineError, ValidationFailed } from '../errors.ts';
import { storable } from '../work.ts';
import { Reply, reply } from './reply.ts';

const LONGEST = 128;
export const IdempotencyMismatch = defineError(
  'IDEMPOTENCY_MISMATCH',
  409,
  'This Idempotency-Key came with another request',
);

interface Kept {
  request_hash: string;
  status: number | null;
  answer: unknown;
}

/**
 * Runs `handle` once for each key of a caller and route in 24 hours, in the transaction of the work: undone with it, and
 * whoever sends the same key meanwhile waits. Throws VALIDATION_ERROR for a bad key, IDEMPOTENCY_MISMATCH for another body.
 * @returns the answer of the first request as a Reply when this is not the first
 */
export async function once(
  ctx: Context,
  route: AnyRoute,
  input: Input,
  handle: () => Promise<unknown>,
): Promise<{ answer: unknown; replayed: boolean }> {
  const key = route.idempotent ? input.headers['idempotency-key'] : undefined;
  if (key === undefined) return { answer: await handle(), replayed: false };
  if (key === '' || key.length > LONGEST) {
    const message = `Idempotency-Key has 1 to ${LONGEST} characters`;
    throw ValidationFailed({ message, details: [{ in: 'headers', path: 'idempotency-key', message }] });
  }
  const { params, query, payload } = input;
  const hash = createHash('sha256')
    .update(JSON.stringify([params, query, payload]))
    .digest('hex');
  const place = [`${ctx.actor.kind}:${ctx.actor.id}`, `${route.method} ${route.path}`, key];
  const { rows } = await ctx.sql<Kept>('select * from take_idempotency_key($1, $2, $3, $4)', [...place, hash]);
  const [kept] = rows;
  if (!kept) {
    const answer = await handle();
    const { body, status } = answer instanceof Reply ? { body: answer.body, ...answer.options } : { body: answer };
    const values = [...place, status ?? route.status ?? 200, storable(body ?? null)];
    await ctx.sql('select keep_idempotent_answer($1, $2, $3, $4, $5::json)', values);
    return { answer, replayed: false };
  }
  if (kept.request_hash !== hash) throw IdempotencyMismatch();
  const options = { status: kept.status ?? 200, headers: { 'idempotency-replayed': 'true' } };
  return { answer: reply(kept.answer, options), replayed: true };
}
