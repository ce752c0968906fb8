/** Confirming the address that an account was registered with, by a mailed link and what opens the account. */
import { type Context, errors } from '#core';
import { newOpaqueToken, sha256Hex } from '#core/auth';
import { AddressProofInvalid, InvalidCredentials } from '../../errors.ts';
import type { AddressProof } from '../../models/password.ts';
import { sessionOf } from '../access/bearers.ts';
import { ownerOf, placesOf } from '../access/places.ts';
import { hasFactor } from '../factors/factor-removal.ts';
import { origin, type Sent } from './notices.ts';
import { passwordFits } from './passwords.ts';
import { markProven } from './proofs.ts';

const LINK_SECONDS = 7 * 86_400;

interface Confirming {
  id: string;
  email: string;
  passwordHash: string | null;
  guarded: boolean;
}

/**
 * The link alone is not enough: a stranger may have registered the address of the person who opens it. The caller also
 * shows a session of the account, verified where the account has a second factor, or its password where it has none.
 * Throws ADDRESS_PROOF_INVALID, INVALID_CREDENTIALS, MFA_VERIFICATION_REQUIRED, UNAUTHENTICATED.
 */
export async function confirmAddress(ctx: Context, input: AddressProof, authorization: string | undefined) {
  const tokenHash = sha256Hex(input.token);
  const { user, place } = await ctx.asPlatform(async (own) => {
    const found = await findProof(own, tokenHash);
    if (authorization) await mustBeTheirs(own, found, authorization);
    return { user: found, place: (await placesOf(own, found.id))[0] };
  });
  if (!authorization) await mustKnowPassword(user, input.password);
  const { rowCount } = await ctx.sql('delete from address_proofs where token_hash = $1 and expires_at > now()', [
    tokenHash,
  ]);
  if (rowCount === 0 || !(await markProven(ctx, user.id))) throw AddressProofInvalid();
  ctx.audit('user.email.confirm', {
    ...ownerOf(place),
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.email,
    actor: { kind: 'user', id: user.id, email: user.email },
  });
  return { success: true };
}

async function findProof(ctx: Context, tokenHash: string): Promise<Confirming> {
  const { rows } = await ctx.sql<Confirming>(
    `select id, email, password_hash as "passwordHash" from users join address_proofs a on a.user_id = id
     where a.token_hash = $1 and a.expires_at > now() and status = 'active' and email_proven_at is null`,
    [tokenHash],
  );
  if (!rows[0]) throw AddressProofInvalid();
  return { ...rows[0], guarded: await hasFactor(ctx, rows[0].id) };
}

async function mustBeTheirs(ctx: Context, user: Confirming, authorization: string): Promise<void> {
  const bearer = await sessionOf(ctx, authorization);
  if (bearer.userId !== user.id) throw errors.Unauthenticated('Log in with the account that the link was sent for');
  if (user.guarded && !bearer.mfa) throw errors.MfaVerificationRequired();
}

async function mustKnowPassword(user: Confirming, password: string | undefined): Promise<void> {
  if (user.guarded || password === undefined) {
    throw errors.Unauthenticated('Log in to the account and send its access token with the token of the link');
  }
  if (!(await passwordFits(password, user.passwordHash))) throw InvalidCredentials();
}

/** Mails another link to the caller. Throws INVALID_STATE when the address is confirmed. */
export async function requestAddressProof(ctx: Context) {
  const { rows } = await ctx.sql<{ email: string }>(
    'select email from users where id = $1 and email_proven_at is null',
    [ctx.actor.id],
  );
  if (!rows[0]) throw errors.InvalidState('The address is confirmed already');
  askForProof(ctx, rows[0].email);
  return { success: true };
}

/** Queues the mail with this transaction. */
export function askForProof(ctx: Context, email: string): void {
  const sent = { email, at: new Date().toISOString(), ip: ctx.actor.ip };
  ctx.addJob('identity/send-address-proof', sent, { orgId: null });
}

/** Mails the link; ends quietly for an address without an account or one that is confirmed. A retry makes a new token. */
export async function sendAddressProof(ctx: Context, sent: Sent): Promise<void> {
  const token = newOpaqueToken('adr_');
  const email = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{ email: string }>(
      `with made as (
         insert into address_proofs (user_id, token_hash, expires_at)
         select id, $2, now() + make_interval(secs => $3) from users
         where lower(email) = lower($1) and status = 'active' and email_proven_at is null
         on conflict (user_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at
         returning user_id)
       select email from users where id in (select user_id from made)`,
      [sent.email, sha256Hex(token), LINK_SECONDS],
    );
    return rows[0]?.email;
  });
  if (!email) return;
  const link = `${ctx.services.config.http.publicUrl}/confirm-address?token=${token}`;
  // Without the name: a person who registers another person's address would choose what we write to them.
  await ctx.services.mail.send({
    to: email,
    subject: 'Quartermaster: confirm your address',
    text: `Hello,\n\nan account was registered with this address. Confirm within seven days that the address is yours:\n\n${link}\n\n${origin(sent)}\n\nIf this was not you, do not open the link.\n`,
  });
}
