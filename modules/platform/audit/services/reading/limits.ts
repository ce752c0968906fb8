/** Which entries callers limited to sites or device groups see: those about what they reach, and their own acts. */
import { type AddParameter, type Context, isLimited, reach, type Scope } from '#core';

/** Whose limits apply; an export keeps those of the person who requested it. */
export interface EntryLimits {
  readonly actor: { readonly id: string | null };
  readonly scope: Pick<Scope, 'orgIds' | 'siteIds' | 'groupIds'>;
}

/**
 * SQL: the condition that a caller sees entries of `l`, an alias of audit_logs, within its organizations; null without limits.
 * An entry about a group is left out for those who are also limited to sites: it may name devices of other sites.
 */
export function seenEntries(limits: EntryLimits, add: AddParameter): string | null {
  const { actor, scope } = limits;
  if (!isLimited(limits)) return null;
  const { siteIds, groupIds } = scope;
  const parts = [`l.resource_id in (select d.id from devices d where ${reach({ scope }, 'd', add)})`];
  if (actor.id) parts.push(`l.actor_id = ${add(actor.id, 'uuid')}`);
  const own = siteIds && groupIds ? null : (siteIds ?? groupIds);
  if (own) parts.push(`l.resource_id = any(${add(own, 'uuid[]')})`);
  return `(${parts.join(' or ')})`;
}

/** The same as ` and …`, to be appended to a condition; empty without limits. */
export function andSeen(ctx: Context, values: unknown[]): string {
  const condition = seenEntries(ctx, (value, type) => `$${values.push(value)}::${type}`);
  return condition ? ` and ${condition}` : '';
}
