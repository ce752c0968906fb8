/** Assertions: the options for the browser, and the verification of its answer (WebAuthn Level 3, section 7.2). */
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Context } from '#core';
import { CHALLENGE_SECONDS, keepChallenge, type Occasion } from './challenges.ts';
import { handleOf, mustBeOwnPage, relyingParty, webauthn } from './relying-party.ts';

export interface KnownPasskey {
  id: string;
  credentialId: string;
  publicKey: Buffer;
  deviceType: 'singleDevice' | 'multiDevice';
  userId: string;
  email: string;
  status: string;
}

export async function askForPasskey(
  ctx: Context,
  occasion: Occasion,
  wanted: { verification: 'required' | 'preferred'; allow?: { id: string; transports: string[] }[] },
) {
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(ctx).id,
    timeout: CHALLENGE_SECONDS * 1000,
    userVerification: wanted.verification,
    ...(wanted.allow ? { allowCredentials: wanted.allow } : {}),
  });
  return { challengeId: await keepChallenge(ctx, options.challenge, occasion), options };
}

/** The passkey that an answer names, of any user. */
export function findPasskey(ctx: Context, credentialId: string): Promise<KnownPasskey | undefined> {
  return ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<KnownPasskey>(
      `select p.id, p.credential_id as "credentialId", p.public_key as "publicKey", p.device_type as "deviceType",
         u.id as "userId", u.email, u.status
       from passkeys p join users u on u.id = p.user_id where p.credential_id = $1`,
      [credentialId],
    );
    return rows[0];
  });
}

interface Shown {
  response: AuthenticationResponseJSON;
  challenge: string;
  /** True when the passkey is the only factor: the authenticator must verify the user, and the answer must name the user. */
  alone: boolean;
}

/** Why the answer is not valid, for the audit trail; null when it is. A valid use is then recorded whatever happens next. */
export async function faultOf(ctx: Context, passkey: KnownPasskey, shown: Shown): Promise<string | null> {
  const { userHandle } = shown.response.response;
  if (userHandle ? userHandle !== handleOf(passkey.userId) : shown.alone) return 'the passkey names another user';
  let used: { newCounter: number; credentialBackedUp: boolean; credentialDeviceType: string };
  try {
    used = await verified(ctx, passkey, shown);
  } catch (error) {
    return `the passkey was not valid: ${(error as Error).message}`.slice(0, 500);
  }
  if (used.credentialDeviceType !== passkey.deviceType) return 'the passkey changed its kind';
  return (await countUse(ctx, passkey.id, used)) ? null : 'the counter of the passkey did not grow: it may be a copy';
}

/** Throws the reason when the answer is not valid. */
async function verified(ctx: Context, passkey: KnownPasskey, { response, challenge, alone }: Shown) {
  const party = relyingParty(ctx);
  mustBeOwnPage(response.response.clientDataJSON);
  const { verifyAuthenticationResponse } = await webauthn();
  const { verified: holds, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: alone,
    // The counter is compared below, on the row itself, and only after the signature was verified.
    credential: { id: passkey.credentialId, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
  });
  if (!holds) throw new Error('the signature is not from this key');
  return authenticationInfo;
}

/**
 * False when the counter did not grow: two devices then hold the same key. Authenticators without a counter leave it at
 * zero (WebAuthn Level 3, section 6.1.1). Commits by itself, so that a use counts although the login ends in an error.
 */
function countUse(ctx: Context, id: string, used: { newCounter: number; credentialBackedUp: boolean }) {
  return ctx.asPlatform(async (own) => {
    const { rowCount } = await own.sql(
      `update passkeys set counter = $2, backed_up = $3, last_used_at = now()
       where id = $1 and (counter = 0 or counter < $2)`,
      [id, used.newCounter, used.credentialBackedUp],
    );
    return rowCount === 1;
  });
}
