/** Self-registration of partners and of single accounts. */
import { type Context, type Reply, reply } from '#core';
import type { NewAccount, NewPartnerAccount } from '../../models/user.ts';
import { variables } from '../../variables.ts';
import { deviceCookie } from '../access/known-devices.ts';
import { type Membership, ownerOf } from '../access/places.ts';
import { openSession } from '../access/sessions.ts';
import { askForProof } from './address-proofs.ts';
import { tell } from './notices.ts';
import { hash, mustBeStrong } from './passwords.ts';
import { insertWithSlug } from './slugs.ts';
import { createUser } from './users.ts';

// The answer for a taken address, with this body instead of the error envelope.
const ACCEPTED = {
  success: true,
  message: 'If registration can proceed, you will receive an email with the next steps.',
};

/** Which terms were accepted, when and from where; null records nothing with the same statement. Needs the platform's role. */
async function recordTerms(ctx: Context, userId: string | null): Promise<void> {
  await ctx.sql(
    `insert into terms_acceptances (user_id, version, ip_address)
     select $1::uuid, $2::text, $3::text where $1::uuid is not null`,
    [userId, variables.of(ctx.services.config).TERMS_VERSION, ctx.actor.ip],
  );
}

/** An account without a place; it can log in once an organization invites it. A taken address gets the same answer. */
export async function registerAccount(ctx: Context, input: NewAccount): Promise<Reply> {
  await mustBeStrong(ctx, input.password, [input.email, input.name]);
  const id = await createUser(ctx, { ...input, passwordHash: await hash(input.password) });
  // Whether the address is taken shows neither in the answer nor in the statements.
  if (input.acceptTerms) await recordTerms(ctx, id);
  if (id) {
    recordUser(ctx, { id, email: input.email, partnerId: null, via: 'register', terms: input.acceptTerms === true });
  } else ctx.unchanged();
  // Both cases send mail with one further statement: neither answer nor timing reveals whether the address is taken.
  if (id) askForProof(ctx, input.email);
  else tell(ctx, input.email, 'already-registered');
  return reply({
    success: true,
    message: 'Confirm your address by mail; your account is ready once an organization invites you.',
  });
}

/**
 * Creates partner, Partner Admin role, user, membership and session in one transaction.
 * Throws WEAK_PASSWORD.
 */
export async function registerPartner(ctx: Context, input: NewPartnerAccount): Promise<Reply> {
  await mustBeStrong(ctx, input.password, [input.email, input.name, input.companyName]);
  // Hashed for a taken address, too, so that the timing reveals nothing.
  const passwordHash = await hash(input.password);
  const userId = await createUser(ctx, { ...input, passwordHash });
  if (!userId) {
    ctx.unchanged();
    tell(ctx, input.email, 'already-registered');
    return reply(ACCEPTED, { status: 200 });
  }
  const status = variables.of(ctx.services.config).PARTNER_APPROVAL === 'required' ? 'pending' : 'active';
  const partner = await insertPartner(ctx, input, status);
  const place: Membership = {
    scope: 'partner',
    partnerId: partner.id,
    orgId: null,
    roleId: await ctx.use('tenancy').makePartnerAdminRole(partner.id),
  };
  await ctx.sql(`insert into partner_users (partner_id, user_id, role_id, org_access) values ($1, $2, $3, 'all')`, [
    partner.id,
    userId,
    place.roleId,
  ]);
  await recordTerms(ctx, userId);
  askForProof(ctx, input.email);
  if (status === 'pending') await ctx.use('tenancy').awaitApproval(partner.id);
  const { tokens, cookies } = await openSession(ctx, { userId, mfa: false, place });
  ctx.audit('partner.create', {
    ...ownerOf(place),
    resourceType: 'partner',
    resourceId: partner.id,
    resourceName: partner.name,
    details: { type: 'msp', plan: 'free', status, via: 'register' },
    actor: { kind: 'user', id: userId, email: input.email },
  });
  recordUser(ctx, { id: userId, email: input.email, partnerId: partner.id, via: 'register-partner', terms: true });
  const user = { id: userId, email: input.email, name: input.name, mfaEnabled: false };
  // The new role requires MFA, so enrollment is the next step when two-factor authentication is on.
  const mfaRequired = ctx.services.config.identity.twoFactor;
  return reply({ user, partner, tokens, mfaRequired }, { cookies: { ...cookies, ...deviceCookie(ctx, input.email) } });
}

/** Active at once where no approval is required: a new installation has no administrator who could give it (see README). */
async function insertPartner(
  ctx: Context,
  input: NewPartnerAccount,
  status: 'pending' | 'active',
): Promise<{ id: string; name: string; slug: string }> {
  const made = await insertWithSlug(ctx, input.companyName, async (slug) => {
    const { rows } = await ctx.sql<{ id: string }>(
      `insert into partners (name, slug, type, plan, status, billing_email) values ($1, $2, 'msp', 'free', $4, $3)
       on conflict (slug) do nothing returning id`,
      [input.companyName, slug, input.email, status],
    );
    return rows[0]?.id ?? null;
  });
  return { id: made.id, name: input.companyName, slug: made.slug };
}

interface NewUser {
  id: string;
  email: string;
  partnerId: string | null;
  via: string;
  /** Whether the terms were accepted. */
  terms: boolean;
}

function recordUser(ctx: Context, user: NewUser): void {
  ctx.audit('user.create', {
    orgId: null,
    partnerId: user.partnerId,
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.email,
    details: {
      via: user.via,
      ...(user.terms ? { termsVersion: variables.of(ctx.services.config).TERMS_VERSION } : {}),
    },
    actor: { kind: 'user', id: user.id, email: user.email },
  });
}
