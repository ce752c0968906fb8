/** Accepting an invitation: the token of the link is the credential. */
import { type Context, errors, type Reply, reply } from '#core';
import { sha256Hex } from '#core/auth';
import { AddressUnproven, InvitationInvalid, InvitationOutdated } from '../errors.ts';
import joined from '../events/joined.ts';
import type { Acceptance } from '../models/invitation.ts';
import { type Grant, join, type Membership } from './associations.ts';
import { allThere } from './limits.ts';
import { entryOf, OPEN } from './tenants.ts';

interface OpenInvitation extends Grant {
  id: string;
  orgId: string | null;
  partnerId: string | null;
  email: string;
  name: string;
  expiresAt: Date;
  tenantName: string;
  /** The account of the address, when it has one. */
  userId: string | null;
  /** Whether the holder has proven the address by mail; before that, any person may have registered it. Null without an account. */
  address: 'proven' | 'claimable' | 'unproven' | null;
}

/**
 * The invitation of a token. Throws INVITATION_INVALID for every reason that makes the token invalid, and
 * INVITATION_OUTDATED when a site, group or organization in it no longer exists: dropping one could come to mean all.
 */
async function mustOpen(ctx: Context, token: string, lock: '' | 'for update of i'): Promise<OpenInvitation> {
  const { rows } = await ctx.sql<Omit<OpenInvitation, 'address'>>(
    `select i.id, i.org_id as "orgId", i.partner_id as "partnerId", i.email, i.name, i.role_id as "roleId",
       i.site_ids as "siteIds", i.device_group_ids as "deviceGroupIds", i.org_access as "orgAccess",
       i.org_ids as "orgIds", i.expires_at as "expiresAt", coalesce(o.name, p.name) as "tenantName", u.id as "userId"
     from invitations i left join organizations o on o.id = i.org_id
       join partners p on p.id = coalesce(i.partner_id, o.partner_id)
       left join users u on lower(u.email) = i.email
     where i.token_hash = $1 and i.expires_at > now() and ${OPEN} and coalesce(u.status = 'active', true) ${lock}`,
    [sha256Hex(token)],
  );
  const [found] = rows;
  if (!found) throw InvitationInvalid();
  if (!(await allThere(ctx, found, found))) throw InvitationOutdated();
  return { ...found, address: found.userId === null ? null : await ctx.use('identity').addressState(found.userId) };
}

/** Whether the organization accepts no passwords, so that a new account needs none. */
async function closedToPasswords(ctx: Context, { orgId }: OpenInvitation): Promise<boolean> {
  if (!orgId) return false;
  for (const rule of ctx.contributions('identity.login-rule')) {
    if ((await rule.withoutPassword(ctx, [orgId])).includes(orgId)) return true;
  }
  return false;
}

/** Whether an account exists that its user keeps: a claimable one goes to the person who received the mail. */
const inUse = ({ address }: Pick<OpenInvitation, 'address'>) => address === 'proven' || address === 'unproven';

/** A caller with the token has received the mail, so this reveals only their own account. */
export async function checkInvitation(ctx: Context, token: string) {
  const found = await mustOpen(ctx, token, '');
  const { email, name, orgId, tenantName, expiresAt, userId, address } = found;
  return {
    email,
    name,
    tenant: { kind: orgId ? 'organization' : 'partner', name: tenantName },
    accountExists: userId !== null,
    passwordRequired: !inUse(found) && !(await closedToPasswords(ctx, found)),
    confirmationRequired: address === 'unproven',
    expiresAt,
  };
}

/**
 * A new address gets an account and is logged in; an existing account only gets the membership, and logs in as before. An
 * account with neither place nor factor whose address was never proven is taken over: its password stops working. One that
 * is in use enters once its user has proven the address. The password is hashed while no transaction is open. Throws as
 * mustOpen(), ADDRESS_UNPROVEN, and 400 for a password that is missing, weak or not allowed.
 */
export async function acceptInvitation(ctx: Context, { token, name, password }: Acceptance): Promise<Reply> {
  const identity = ctx.use('identity');
  const seen = await ctx.asPlatform(async (own) => {
    const found = await mustOpen(own, token, '');
    return { ...found, closed: await closedToPasswords(own, found) };
  });
  if (seen.address === 'unproven') throw AddressUnproven();
  const settled = seen.address === 'proven';
  if (settled && password !== undefined) throw passwordFault('The address has an account: log in with it');
  if (!settled && !seen.closed && password === undefined) throw passwordFault('A password is required');
  const chosen = name ?? seen.name;
  const passwordHash = password === undefined ? null : await identity.hashNewPassword(password, [seen.email, chosen]);

  // Read again and locked: of two concurrent acceptances the second finds no invitation.
  const found = await mustOpen(ctx, token, 'for update of i');
  if (found.userId && found.address === 'proven') {
    await enter(ctx, found, found.userId);
    return reply({ success: true, loginRequired: true });
  }
  // The account was deleted in the meantime, and without a password no new one can be created.
  if (settled) throw InvitationInvalid();
  const userId = found.userId
    ? await takeOver(ctx, found, found.userId, passwordHash)
    : await makeAccount(ctx, found, chosen, passwordHash);
  const place = await enter(ctx, found, userId);
  if (seen.closed) return reply({ success: true, loginRequired: true });
  const { body, issued } = await identity.logIn(userId, place, { mfa: false, via: 'invitation' });
  return reply(body, issued ? { cookies: issued.cookies } : {});
}

const Meanwhile = () =>
  errors.InvalidState('An account was created for the address at the same time; open the link again');

async function makeAccount(
  ctx: Context,
  found: OpenInvitation,
  name: string,
  passwordHash: string | null,
): Promise<string> {
  const { id, email } = found;
  const userId = await ctx.use('identity').createUser({ id, email, name, passwordHash, addressProven: true });
  if (!userId) throw Meanwhile();
  const person = { id: userId, email };
  ctx.audit('user.create', { ...entryOf(found, person, { via: 'invitation' }), actor: { kind: 'user', ...person } });
  return userId;
}

async function takeOver(
  ctx: Context,
  found: OpenInvitation,
  userId: string,
  passwordHash: string | null,
): Promise<string> {
  if (!(await ctx.use('identity').claimAccount(userId))) throw Meanwhile();
  if (passwordHash) await ctx.use('identity').setFirstPassword(userId, passwordHash);
  const person = { id: userId, email: found.email };
  const details = { changedFields: ['password'], via: 'invitation' };
  ctx.audit('user.update', { ...entryOf(found, person, details), actor: { kind: 'user', ...person } });
  return userId;
}

const passwordFault = (message: string) =>
  errors.ValidationFailed({ message, details: [{ path: 'password', message }] });

/** Consumes the invitation and creates the membership, for an account that is still active. */
async function enter(
  ctx: Context,
  found: Omit<OpenInvitation, 'tenantName' | 'expiresAt' | 'address'>,
  userId: string,
): Promise<Membership> {
  // Locked, so that the user cannot be disabled at the same time.
  const { rowCount } = await ctx.sql(`select from users where id = $1 and status = 'active' for share`, [userId]);
  if (rowCount === 0) throw InvitationInvalid();
  const { id, email, orgId, partnerId } = found;
  const place = await join(ctx, { orgId, partnerId }, userId, found);
  await ctx.sql('delete from invitations where id = $1', [id]);
  const details = { invitationId: id, roleId: place.roleId };
  const actor = { kind: 'user' as const, id: userId, email };
  ctx.audit('user.invite.accept', { ...entryOf(found, actor, details), actor });
  ctx.emit(joined, { userId, roleId: place.roleId, partnerId }, { orgId });
  return place;
}

/**
 * For callers that have proven by other means that the address is the user's: consumes a pending invitation of the
 * organization and returns the place. Null without one, and for an outdated one. Needs the platform's role.
 */
export async function takeInvitation(
  ctx: Context,
  { orgId, email, userId }: { orgId: string; email: string; userId: string },
): Promise<Membership | null> {
  const { rows } = await ctx.sql<Grant & { id: string; email: string; orgId: string; partnerId: null; name: string }>(
    `select id, email, name, org_id as "orgId", partner_id as "partnerId", role_id as "roleId", site_ids as "siteIds",
       device_group_ids as "deviceGroupIds", org_access as "orgAccess", org_ids as "orgIds"
     from invitations where org_id = $1 and email = lower($2) and expires_at > now() for update`,
    [orgId, email],
  );
  const [found] = rows;
  if (!found || !(await allThere(ctx, found, found))) return null;
  return enter(ctx, { ...found, userId }, userId);
}
