/** Challenges: random texts that a passkey signs, each valid for one answer within five minutes. */
import type { Context } from '#core';
import { ChallengeInvalid } from '../errors.ts';

export const CHALLENGE_SECONDS = 300;
const SWEEP_BATCH = 10_000;

export type Occasion =
  | { purpose: 'login' }
  | { purpose: 'factor'; userId: string }
  | { purpose: 'register'; userId: string; sessionId: string };

const columns = (occasion: Occasion) => [
  occasion.purpose,
  'userId' in occasion ? occasion.userId : null,
  'sessionId' in occasion ? occasion.sessionId : null,
];

/** @returns the id that the answer must name. */
export async function keepChallenge(ctx: Context, challenge: string, occasion: Occasion): Promise<string> {
  const { rows } = await ctx.sql<{ id: string }>(
    `insert into passkey_challenges (challenge, purpose, user_id, session_id, expires_at)
     values ($1, $2, $3, $4, now() + make_interval(secs => $5)) returning id`,
    [challenge, ...columns(occasion), CHALLENGE_SECONDS],
  );
  return rows[0]?.id ?? '';
}

/**
 * Consumes a challenge and commits that before the answer is verified, so that a wrong answer consumes it as well and of two
 * concurrent answers one is refused. Throws CHALLENGE_INVALID.
 */
export async function takeChallenge(ctx: Context, id: string, occasion: Occasion): Promise<string> {
  const taken = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{ challenge: string }>(
      `delete from passkey_challenges where id = $1 and purpose = $2 and user_id is not distinct from $3
         and session_id is not distinct from $4 and expires_at > now() returning challenge`,
      [id, ...columns(occasion)],
    );
    return rows[0]?.challenge;
  });
  if (!taken) throw ChallengeInvalid();
  return taken;
}

/** Deletes one batch of expired challenges. @returns whether there may be more. */
export async function sweepChallenges(ctx: Context): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `delete from passkey_challenges where id in (
       select id from passkey_challenges where expires_at < now() order by expires_at limit $1)`,
    [SWEEP_BATCH],
  );
  return rowCount === SWEEP_BATCH;
}
