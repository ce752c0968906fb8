/** Registering a passkey for the caller's account (WebAuthn Level 3, section 7.1). */
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Context } from '#core';
import { PasskeyInvalid, PasskeyKnown, PasskeyLimit } from '../errors.ts';
import { MOST_ID_CHARACTERS, type Registration } from '../models/ceremony.ts';
import { Passkey, showPasskey } from '../models/passkey.ts';
import { CHALLENGE_SECONDS, keepChallenge, takeChallenge } from './challenges.ts';
import { recordChange } from './passkeys.ts';
import { handleOf, mustBeOwnPage, relyingParty, webauthn } from './relying-party.ts';

const MOST_PASSKEYS = 20;
/** EdDSA, ES256 and RS256. Listed here because the library's default depends on the runtime. */
const ALGORITHMS = [-8, -7, -257];

const occasion = ({ actor }: Context) =>
  ({ purpose: 'register', userId: actor.id ?? '', sessionId: actor.sessionId ?? '' }) as const;

/** Throws REAUTHENTICATION_REQUIRED, MFA_VERIFICATION_REQUIRED, PASSKEY_LIMIT_REACHED. */
export async function beginRegistration(ctx: Context) {
  await ctx.use('identity').mustBeFresh();
  const { id: userId, email, name } = ctx.actor;
  const known = await Passkey.in(ctx).where({ userId }).select('credentialId', 'transports');
  if (known.length >= MOST_PASSKEYS) throw PasskeyLimit();
  const party = relyingParty(ctx);
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userID: new Uint8Array(Buffer.from(handleOf(userId ?? ''), 'base64url')),
    userName: email ?? '',
    userDisplayName: name ?? '',
    timeout: CHALLENGE_SECONDS * 1000,
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    // One kind of passkey serves both uses: a login without a password needs it discoverable and user-verifying.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return { challengeId: await keepChallenge(ctx, options.challenge, occasion(ctx)), options };
}

/**
 * Verifies the new credential and stores its public key. Throws CHALLENGE_INVALID, PASSKEY_INVALID, PASSKEY_KNOWN,
 * PASSKEY_LIMIT_REACHED.
 */
export async function finishRegistration(ctx: Context, { challengeId, name, response }: Registration) {
  const challenge = await takeChallenge(ctx, challengeId, occasion(ctx));
  const made = await verified(ctx, response, challenge);
  const userId = ctx.actor.id ?? '';
  // Counting and adding are serialized by user, so that two concurrent requests cannot both add the twentieth.
  await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('passkeys:' || $1, 0))`, [userId]);
  if ((await Passkey.in(ctx).where({ userId }).resultSize()) >= MOST_PASSKEYS) throw PasskeyLimit();
  const { rows } = await ctx.sql<{ id: string }>(
    `insert into passkeys
       (user_id, credential_id, public_key, counter, transports, device_type, backed_up, aaguid, name)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (credential_id) do nothing returning id`,
    [
      ...[userId, made.credential.id, Buffer.from(made.credential.publicKey), made.credential.counter],
      ...[response.response.transports ?? [], made.credentialDeviceType, made.credentialBackedUp, made.aaguid, name],
    ],
  );
  const passkey = rows[0] && (await Passkey.in(ctx).findById(rows[0].id));
  if (!passkey) throw PasskeyKnown();
  const { deviceType, backedUp, aaguid } = passkey;
  recordChange(ctx, 'auth.passkey.create', passkey, { deviceType, backedUp, aaguid });
  ctx.use('identity').tell(ctx.actor.email ?? '', 'passkey-added');
  return { data: showPasskey(passkey) };
}

/** Throws PASSKEY_INVALID; the reason is only logged. */
async function verified(ctx: Context, response: RegistrationResponseJSON, expectedChallenge: string) {
  const party = relyingParty(ctx);
  const { verifyRegistrationResponse } = await webauthn();
  try {
    mustBeOwnPage(response.response.clientDataJSON);
    await mustBeUnattested(response.response.attestationObject);
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!registrationInfo) throw new Error('the attestation is not signed by the new key');
    if (registrationInfo.credential.id.length > MOST_ID_CHARACTERS) throw new Error('the credential id is too long');
    return registrationInfo;
  } catch (error) {
    ctx.log.info({ err: error }, 'a new passkey was not valid');
    throw PasskeyInvalid();
  }
}

/**
 * No attestation is requested, so browsers send none or a self-attestation. Certificates are refused without reading them:
 * verifying them makes the library fetch revocation lists from addresses that the sender wrote into them.
 */
async function mustBeUnattested(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = decoded.get('fmt');
  if (format === 'none' || (format === 'packed' && !decoded.get('attStmt').get('x5c'))) return;
  throw new Error(`the attestation ${String(format).slice(0, 50)} was not asked for`);
}
