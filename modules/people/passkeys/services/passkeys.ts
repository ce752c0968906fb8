/** The caller's passkeys: listing, renaming and deleting them. Every query is limited to the caller explicitly. */
import { type Context, changesOf, errors, type PageQuery, page, type SortKey } from '#core';
import { Passkey, type PasskeyUpdate, showPasskey } from '../models/passkey.ts';

const ORDER = {
  name: 'passkeys-newest',
  keys: [
    { expression: 'passkeys.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'passkeys.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

const mine = (ctx: Context) => Passkey.in(ctx).where({ userId: ctx.actor.id });

export const listPasskeys = (ctx: Context, query: PageQuery) => page(mine(ctx), query, ORDER, showPasskey);

/** Throws NO_UPDATES, NOT_FOUND. */
export async function renamePasskey(ctx: Context, id: string, changes: PasskeyUpdate) {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  const before = await mine(ctx).where({ id }).forNoKeyUpdate().first();
  const renamed = await mine(ctx).where({ id }).patch(changes).returning('*').first();
  if (!renamed) throw errors.NotFound('Passkey not found');
  recordChange(ctx, 'auth.passkey.update', renamed, { ...changesOf(before ?? {}, renamed, Object.keys(changes)) });
  return { data: showPasskey(renamed) };
}

/** The passkey stops working; sessions that it opened continue. Throws NOT_FOUND, REAUTHENTICATION_REQUIRED. */
export async function removePasskey(ctx: Context, id: string): Promise<{ success: true }> {
  await ctx.use('identity').mustBeFresh();
  const removed = await mine(ctx).where({ id }).delete().returning('*').first();
  if (!removed) throw errors.NotFound('Passkey not found');
  recordChange(ctx, 'auth.passkey.delete', removed, {});
  ctx.use('identity').tell(ctx.actor.email ?? '', 'passkey-removed');
  return { success: true };
}

/** All passkeys of a user, regardless of the caller. Needs the platform's role. */
export async function forgetPasskeys(ctx: Context, userId: string): Promise<void> {
  await ctx.sql('delete from passkeys where user_id = $1', [userId]);
  await ctx.sql('delete from passkey_challenges where user_id = $1', [userId]);
}

export function recordChange(ctx: Context, action: string, passkey: Passkey, details: Record<string, unknown>): void {
  ctx.audit(action, {
    resourceType: 'passkey',
    resourceId: passkey.id,
    resourceName: passkey.name,
    details,
  });
}
