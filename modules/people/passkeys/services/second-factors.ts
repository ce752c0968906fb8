/** A passkey after the password, instead of a code. */
import { type Context, errors } from '#core';
import { PasskeyRefused } from '../errors.ts';
import type { FactorAssertion } from '../models/ceremony.ts';
import { Passkey } from '../models/passkey.ts';
import { askForPasskey, faultOf, findPasskey } from './assertions.ts';
import { takeChallenge } from './challenges.ts';
import { recordFailure } from './failures.ts';

export async function hasPasskey(ctx: Context, userId: string): Promise<boolean> {
  const { rowCount } = await ctx.sql('select 1 from passkeys where user_id = $1 limit 1', [userId]);
  return rowCount === 1;
}

/** Throws TEMP_TOKEN_INVALID, RATE_LIMITED, INVALID_STATE for a user without a passkey. */
export async function beginFactor(ctx: Context, tempToken: string) {
  const { id: userId } = await ctx.use('identity').challenged(tempToken);
  const passkeys = await Passkey.in(ctx).where({ userId }).select('credentialId', 'transports');
  if (passkeys.length === 0) throw errors.InvalidState('The user has no passkey');
  return askForPasskey(
    ctx,
    { purpose: 'factor', userId },
    {
      // Presence is enough after a password, but an authenticator may offer a passkey only after it verified the user.
      verification: 'preferred',
      allow: passkeys.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    },
  );
}

/** Throws TEMP_TOKEN_INVALID, RATE_LIMITED, CHALLENGE_INVALID, PASSKEY_REFUSED. */
export async function finishFactor(ctx: Context, { tempToken, challengeId, response }: FactorAssertion) {
  const identity = ctx.use('identity');
  const who = await identity.challenged(tempToken);
  const challenge = await takeChallenge(ctx, challengeId, { purpose: 'factor', userId: who.id });
  const passkey = await findPasskey(ctx, response.id);
  const fault =
    passkey?.userId === who.id
      ? await faultOf(ctx, passkey, { response, challenge, alone: false })
      : 'the passkey is not one of the user';
  if (fault) {
    recordFailure(ctx, who, who, fault);
    throw PasskeyRefused();
  }
  return identity.finishChallenge(tempToken, who, 'passkey');
}
