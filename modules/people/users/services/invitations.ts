/** Invitations: creating them, sending them again, and the mail with the link. */
import { type Context, databaseErrorOf, errors, targetTenant } from '#core';
import { newOpaqueToken, sha256Hex } from '#core/auth';
import { InvitationOutdated, UserExists } from '../errors.ts';
import invited from '../events/invited.ts';
import { Invitation, type InviteCreate, type Resend } from '../models/invitation.ts';
import type { Member } from '../models/member.ts';
import { allThere, checkLimits } from './limits.ts';
import { membersOf, mustFind, showFound } from './members.ts';
import { mustOutrank } from './ranks.ts';
import { entryOf, mustExistTenant, OPEN } from './tenants.ts';

const LINK_DAYS = 7;
const validFrom = (at: Date) => new Date(at.getTime() + LINK_DAYS * 86_400_000);

/**
 * Creates only the invitation, and the answer does not reveal whether the address has an account elsewhere. Throws 404 for a
 * role of another tenant, 403 for what the caller may not grant, 409 `User already exists in this scope`.
 */
export async function invite(ctx: Context, input: InviteCreate) {
  const tenant = targetTenant(ctx, input);
  await mustExistTenant(ctx, tenant);
  const { email, name, roleId } = input;
  const { name: roleName } = await ctx.use('roles').mustAssign(roleId, tenant);
  const limits = await checkLimits(ctx, tenant, input);
  // The unique index decides between concurrent invitations; this check covers members, and avoids a failed statement.
  if (await membersOf(ctx, tenant).whereRaw('lower(members.email) = ?', [email]).first()) throw UserExists();
  const invitedBy = ctx.actor.kind === 'user' ? ctx.actor.id : null;
  const made = await Invitation.query(ctx.trx)
    .insert({ ...tenant, ...limits, email, name, roleId, invitedBy, expiresAt: validFrom(new Date()) })
    .returning('*')
    .catch(refused);
  ctx.audit('user.invite', entryOf(tenant, made, { roleId, roleName, ...given(limits) }));
  ctx.emit(invited, { invitationId: made.id, roleId, partnerId: tenant.partnerId }, { orgId: tenant.orgId });
  sendSoon(ctx, made.id);
  return showFound(ctx, tenant, made.id);
}

/** Only the fields that limit something, for the audit trail. */
const given = (limits: object) =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null && String(value) !== ''));

function refused(error: unknown): never {
  const constraint = databaseErrorOf(error)?.constraint ?? '';
  if (constraint === 'invitations_org' || constraint === 'invitations_partner') throw UserExists();
  if (constraint === 'invitations_role_id_fkey') throw errors.NotFound('Role not found');
  throw error;
}

/**
 * Sends a new link that is valid for seven days and invalidates the previous one. Throws 409 INVALID_STATE for a member,
 * INVITATION_OUTDATED, and 403 when the invitation grants more than the caller has: renewing it grants it again.
 */
export async function resendInvitation(ctx: Context, input: Resend) {
  const tenant = targetTenant(ctx, input);
  const member = await mustFind(ctx, tenant, input.userId);
  mustBeInvited(member);
  await mustOutrank(ctx, member);
  if (!(await allThere(ctx, tenant, member))) throw InvitationOutdated();
  const renewed = await Invitation.in(ctx)
    .findById(member.id)
    .patch({ tokenHash: null, expiresAt: validFrom(new Date()), updatedAt: new Date() });
  if (renewed === 0) throw Accepted();
  ctx.audit('user.invite.resend', entryOf(tenant, member, { roleId: member.roleId }));
  sendSoon(ctx, member.id);
  return showFound(ctx, tenant, member.id);
}

function mustBeInvited({ status, invitationExpiresAt }: Member): void {
  if (!invitationExpiresAt) throw Accepted(status);
}

const Accepted = (current = 'active') =>
  errors.InvalidState({ message: 'The user has accepted already', details: [{ current, allowed: ['invited'] }] });

/** The newest request wins: a job that still waits for this invitation is replaced. */
const sendSoon = (ctx: Context, invitationId: string) =>
  ctx.addJob('users/send-invitation', { invitationId }, { orgId: null, key: `users-invitation:${invitationId}` });

interface Letter {
  email: string;
  name: string;
  tenant: string;
  inviter: string | null;
}

/**
 * Mails the link. The job and not the request makes its token, so that it is never stored in the queue; a retry makes a new
 * token and invalidates the previous one. Ends quietly when the invitation or its tenant no longer exists.
 */
export async function sendInvitation(ctx: Context, invitationId: string): Promise<void> {
  const token = newOpaqueToken('inv_');
  const letter = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<Letter>(
      `update invitations i set token_hash = $2, expires_at = now() + make_interval(days => $3)
       from invitations t left join organizations o on o.id = t.org_id
         join partners p on p.id = coalesce(t.partner_id, o.partner_id) left join users u on u.id = t.invited_by
       where i.id = $1 and t.id = i.id and i.expires_at > now() and ${OPEN}
       returning i.email, i.name, coalesce(o.name, p.name) as tenant, u.name as inviter`,
      [invitationId, sha256Hex(token), LINK_DAYS],
    );
    return rows[0];
  });
  if (!letter) return;
  const { email, name, tenant, inviter } = letter;
  const link = `${ctx.services.config.http.publicUrl}/accept-invite?token=${token}`;
  const who = inviter ? `${oneLine(inviter)} invites you` : 'you are invited';
  await ctx.services.mail.send({
    to: email,
    subject: `Invitation to ${oneLine(tenant)}`,
    text: `Hello ${oneLine(name)},\n\n${who} to ${oneLine(tenant)} on Quartermaster. Accept within ${LINK_DAYS} days:\n\n${link}\n\nIf you did not expect this, ignore it: nothing has been set up for you.\n`,
  });
}

/** Names are chosen by tenants: they must not add paragraphs to the mail. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

const KEEP_DAYS = 90;
const BATCH = 10_000;

/** Expired invitations can be sent again for 90 days; then they are deleted, oldest first. */
export async function sweepInvitations(ctx: Context): Promise<void> {
  await ctx.sql(
    `delete from invitations where id in (select id from invitations
       where expires_at < now() - make_interval(days => $1) order by expires_at limit ${BATCH})`,
    [KEEP_DAYS],
  );
}
