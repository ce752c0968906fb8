/** Logging in with a passkey alone. */
import { type Context, errors } from '#core';
import { PasskeyRefused } from '../errors.ts';
import type { PasskeyLogin } from '../models/ceremony.ts';
import { askForPasskey, faultOf, findPasskey } from './assertions.ts';
import { takeChallenge } from './challenges.ts';
import { recordFailure } from './failures.ts';

/** The options name no user: the authenticator offers the passkeys it has for this host, so they reveal nothing. */
export const beginLogin = (ctx: Context) => askForPasskey(ctx, { purpose: 'login' }, { verification: 'required' });

/**
 * The authenticator holds the key and verifies the user, which makes two factors. An unknown passkey, an invalid answer and an
 * inactive user get the same error. Throws CHALLENGE_INVALID, PASSKEY_REFUSED, SSO_REQUIRED, 403 without a place.
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
