/** An administrator removes the second factor of a user who lost it. A mailed password reset never does. */
import { type Context, errors, targetTenant } from '#core';
import { InvitationPending, OwnAccount } from '../errors.ts';
import type { NamedTenant } from '../models/invitation.ts';
import { lockOtherPlaces } from './accounts.ts';
import { mustFind } from './members.ts';
import { mustOutrank } from './ranks.ts';
import { entryOf } from './tenants.ts';

interface Account {
  id: string;
  email: string;
}

/**
 * Removes every factor, phone, passkey and recovery code, and ends the sessions; the password stays. A system administrator
 * who names no tenant may name any account. Recorded in every tenant of the user. Throws OWN_ACCOUNT, USER_SHARED,
 * REAUTHENTICATION_REQUIRED, INVALID_STATE, and 403 for a user who may do more than the caller. Needs the platform's role.
 */
export async function resetFactors(ctx: Context, id: string, named: NamedTenant): Promise<{ success: true }> {
  if (id === ctx.actor.id) throw OwnAccount();
  await ctx.use('identity').mustBeFresh();
  const found = await mustAdminister(ctx, id, named);
  if (!(await ctx.use('identity').removeFactors(id))) throw errors.InvalidState('The user has no second factor');
  for (const place of found.places) ctx.audit('user.mfa.reset', entryOf(place, found.account, {}));
  return { success: true };
}

async function mustAdminister(ctx: Context, id: string, named: NamedTenant) {
  if (ctx.scope.kind === 'system' && !named.orgId && !named.partnerId) return anyAccount(ctx, id);
  const tenant = targetTenant(ctx, named);
  const account = await mustFind(ctx, tenant, id);
  if (account.invitationExpiresAt) throw InvitationPending();
  await mustOutrank(ctx, account);
  return { account, places: [tenant, ...(await lockOtherPlaces(ctx, tenant, id))] };
}

async function anyAccount(ctx: Context, id: string) {
  const { rows } = await ctx.sql<Account>('select id, email from users where id = $1 for update', [id]);
  const [account] = rows;
  if (!account) throw errors.NotFound('User not found');
  const places = await ctx.use('identity').placesOf(id);
  return { account, places: places.length > 0 ? places : [{ orgId: null, partnerId: null }] };
}
