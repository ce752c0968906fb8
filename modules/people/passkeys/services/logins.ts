/** Logging in with nothing but a passkey. */
import { type Context, errors } from '#core';
import type { PasskeyLogin } from '../models/ceremony.ts';
import { PasskeyRefused } from '../models/refusals.ts';
import { askForPasskey, faultOf, findPasskey } from './assertions.ts';
import { takeChallenge } from './challenges.ts';
import { recordFailure } from './failures.ts';

/** Nobody is named: the authenticator shows the passkeys it has for this host, so the answer tells nothing. */
export const beginLogin = (ctx: Context) => askForPasskey(ctx, { purpose: 'login' }, { verification: 'required' });

/**
 * The authenticator holds the key and knows the person, which makes two factors. An unknown passkey, an answer that does
 * not hold and a user who may not log in get one answer. Throws CHALLENGE_INVALID, PASSKEY_REFUSED, SSO_REQUIRED, 403
 * without a place.
 */
export async function loginWithPasskey(ctx: Context, { challengeId, response, ...named }: PasskeyLogin) {
  const challenge = await takeChallenge(ctx, challengeId, { purpose: 'login' });
  const passkey = await findPasskey(ctx, response.id);
  if (!passkey) throw PasskeyRefused();
  const fault = await faultOf(ctx, passkey, { response, challenge, alone: true });
  const identity = ctx.use('identity');
  if (fault || passkey.status !== 'active') {
    const [place] = await identity.placesOf(passkey.userId);
    recordFailure(ctx, { id: passkey.userId, email: passkey.email }, place, fault ?? 'the user is not active');
    throw PasskeyRefused();
  }
  const place = await identity.choosePlace(passkey.userId, named);
  const off = ctx.services.modules.off('passkeys', place);
  if (off) throw errors.moduleOffHere('passkeys', off);
  return identity.logIn(passkey.userId, place, { mfa: true, via: 'passkey' });
}
