/** Self-registration of partners and of single accounts (spec/2-tenancy, Self-registration). */
import { type Context, defineError, type Reply, reply } from '#core';
import type { NewAccount, NewPartnerAccount } from '../models/user.ts';
import { hash, mustBeStrong } from './passwords.ts';
import { ownerOf, type Place } from './places.ts';
import { openSession } from './sessions.ts';
import { insertWithSlug } from './slugs.ts';

export const SlugsExhausted = defineError('SLUG_EXHAUSTED', 500, 'Unable to generate unique company identifier');

// Rule 4: what a taken address gets, and rule 1: this body and not the envelope.
const ACCEPTED = {
  success: true,
  message: 'If registration can proceed, you will receive an email with the next steps.',
};
const disabled = (ctx: Context): Reply | null =>
  ctx.platform.config.identity.registration
    ? null
    : reply({ error: 'Registration is currently disabled', code: 'REGISTRATION_DISABLED' }, { status: 403 });

/** Strength first, then the hash, also for an address that is taken: the time tells nothing. Null when it is taken. */
async function insertUser(ctx: Context, input: NewAccount, passwordHash: string): Promise<string | null> {
  const { rows } = await ctx.sql<{ id: string }>(
    `insert into users (email, name, password_hash, password_changed_at) values ($1, $2, $3, now())
     on conflict do nothing returning id`,
    [input.email, input.name, passwordHash],
  );
  return rows[0]?.id ?? null;
}

/** An account without a place: it can log in once somebody invites it. The answer is the same for a taken address. */
export async function registerAccount(ctx: Context, input: NewAccount): Promise<Reply> {
  const refused = disabled(ctx);
  if (refused) return refused;
  await mustBeStrong(input.password, [input.email, input.name]);
  const id = await insertUser(ctx, input, await hash(input.password));
  if (id) recordUser(ctx, { id, email: input.email, partnerId: null, via: 'register' });
  else ctx.unchanged();
  return reply({ success: true, message: 'Your account is ready once an organization invites you.' });
}

/**
 * Partner, Partner Admin role, user, association and session in one transaction: all of them or none.
 * Throws WEAK_PASSWORD, SLUG_EXHAUSTED.
 */
export async function registerPartner(ctx: Context, input: NewPartnerAccount): Promise<Reply> {
  const refused = disabled(ctx);
  if (refused) return refused;
  await mustBeStrong(input.password, [input.email, input.name, input.companyName]);
  const passwordHash = await hash(input.password);
  const userId = await insertUser(ctx, input, passwordHash);
  if (!userId) {
    ctx.unchanged();
    return reply(ACCEPTED, { status: 200 });
  }
  const partner = await insertPartner(ctx, input);
  const place: Place = {
    scope: 'partner',
    partnerId: partner.id,
    orgId: null,
    roleId: await insertRole(ctx, partner.id),
  };
  await ctx.sql(`insert into partner_users (partner_id, user_id, role_id, org_access) values ($1, $2, $3, 'all')`, [
    partner.id,
    userId,
    place.roleId,
  ]);
  const { tokens, cookies } = await openSession(ctx, { userId, mfa: false, place });
  ctx.audit('partner.create', {
    ...ownerOf(place),
    resourceType: 'partner',
    resourceId: partner.id,
    resourceName: partner.name,
    details: { type: 'msp', plan: 'free', status: 'active', via: 'register' },
    actor: { kind: 'user', id: userId, email: input.email },
  });
  recordUser(ctx, { id: userId, email: input.email, partnerId: partner.id, via: 'register-partner' });
  const user = { id: userId, email: input.email, name: input.name, mfaEnabled: false };
  // The new role forces an authenticator, so that is what comes next wherever the second factor is on.
  const mfaRequired = ctx.platform.config.identity.twoFactor;
  return reply({ user, partner, tokens, mfaRequired }, { cookies });
}

/** Active at once: nobody is there to approve on a fresh installation (see README). */
async function insertPartner(
  ctx: Context,
  input: NewPartnerAccount,
): Promise<{ id: string; name: string; slug: string }> {
  const made = await insertWithSlug(ctx, input.companyName, async (slug) => {
    const { rows } = await ctx.sql<{ id: string }>(
      `insert into partners (name, slug, type, plan, status, billing_email) values ($1, $2, 'msp', 'free', 'active', $3)
       on conflict (slug) do nothing returning id`,
      [input.companyName, slug, input.email],
    );
    return rows[0]?.id ?? null;
  });
  if (!made) throw SlugsExhausted();
  return { id: made.id, name: input.companyName, slug: made.slug };
}

async function insertRole(ctx: Context, partnerId: string): Promise<string> {
  const { rows } = await ctx.sql<{ id: string }>(
    `with role as (
       insert into roles (partner_id, scope, name, description, is_system, force_mfa)
       values ($1, 'partner', 'Partner Admin', 'Everything, for every organization of the partner', true, true) returning id),
     granted as (
       insert into role_permissions (role_id, permission_id)
       select role.id, p.id from role, permissions p where p.resource = '*' and p.action = '*')
     select id from role`,
    [partnerId],
  );
  return rows[0]?.id ?? '';
}

function recordUser(ctx: Context, user: { id: string; email: string; partnerId: string | null; via: string }): void {
  ctx.audit('user.create', {
    orgId: null,
    partnerId: user.partnerId,
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.email,
    details: { via: user.via },
    actor: { kind: 'user', id: user.id, email: user.email },
  });
}
