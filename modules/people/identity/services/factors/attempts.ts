/** Limits on how often codes may be tried and sent. */
import { type Context, errors } from '#core';

const MOST_ATTEMPTS = 10;
const WINDOW_SECONDS = 900;

function tooMany(message: string, retryAfter: number): Error {
  return errors.RateLimited({ message, beside: { retryAfter }, headers: { 'retry-after': String(retryAfter) } });
}

/**
 * Counts one attempt by user, from any address. Must commit before the code is checked, so that a wrong code stays
 * counted. Throws RATE_LIMITED with `retryAfter` in seconds.
 */
export async function countAttempt(ctx: Context, userId: string): Promise<void> {
  const { rows } = await ctx.sql<{ attempts: number; retryAfter: number }>(
    `insert into mfa_attempts as a (user_id, attempts, window_ends_at) values ($1, 1, now() + make_interval(secs => $2))
     on conflict (user_id) do update set
       attempts = case when a.window_ends_at <= now() then 1 else a.attempts + 1 end,
       window_ends_at = case when a.window_ends_at <= now() then excluded.window_ends_at else a.window_ends_at end
     returning attempts, ceil(extract(epoch from window_ends_at - now()))::int as "retryAfter"`,
    [userId, WINDOW_SECONDS],
    'identity-mfa-attempt',
  );
  const [counted] = rows;
  if (!counted || counted.attempts <= MOST_ATTEMPTS) return;
  throw tooMany('Too many codes were tried; wait before the next', counted.retryAfter);
}

export async function forgetAttempts(ctx: Context, userId: string): Promise<void> {
  await ctx.sql('delete from mfa_attempts where user_id = $1', [userId]);
}

/**
 * Counts one message; by this process alone while the counter store is away, since the caller has shown a password and the
 * number is their own. Throws RATE_LIMITED.
 */
export async function countMessage(ctx: Context, key: string, max: number, windowSeconds: number): Promise<void> {
  const hit = await ctx.services.counters.hit(key, max, windowSeconds).catch((error: Error) => {
    if (error.name !== 'CountersUnavailableError') throw error;
    return ctx.services.counters.local.hit(key, max, windowSeconds);
  });
  if (!hit.allowed) throw tooMany('Too many messages were sent; wait before the next', hit.retryAfterSeconds);
}
