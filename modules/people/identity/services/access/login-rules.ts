/** What other modules have a say in when somebody logs in. */
import { type Context, defineError } from '#core';
import type { Place } from './places.ts';

/** Fills `identity.login-rule`. */
export interface LoginRule {
  /** The organizations among these that enforce single sign-on and take no password. Runs in the platform role. */
  withoutPassword(ctx: Context, orgIds: readonly string[]): Promise<readonly string[]>;
}
/** Fills `identity.factor`: a second factor besides the authenticator and text messages. */
export interface ExtraFactor {
  /** As it is named in `mfaMethods`. */
  method: string;
  /** Whether the user enrolled it. Runs on platform work. */
  enrolled(ctx: Context, userId: string): Promise<boolean>;
  /** Removes all that the user enrolled. Runs on platform work. */
  forget(ctx: Context, userId: string): Promise<void>;
}

const SsoRequired = defineError('SSO_REQUIRED', 403, 'This organization logs in through its identity provider');

/** The places that a password opens; each that does not is left out. */
export async function passwordPlaces(ctx: Context, places: readonly Place[]): Promise<Place[]> {
  const orgIds = places.flatMap(({ orgId }) => orgId ?? []);
  if (orgIds.length === 0) return [...places];
  const closed = new Set<string>();
  for (const rule of ctx.fillings('identity.login-rule')) {
    for (const orgId of await rule.withoutPassword(ctx, orgIds)) closed.add(orgId);
  }
  return places.filter(({ orgId }) => orgId === null || !closed.has(orgId));
}

/** Throws SSO_REQUIRED with the organization, when the place the caller asked for, or every place, takes no password. */
export function mustTakePassword(
  places: readonly Place[],
  open: readonly Place[],
  named: { orgId?: string | undefined },
): void {
  const shut = places.filter((place) => !open.includes(place));
  const wanted = named.orgId
    ? shut.find(({ orgId }) => orgId === named.orgId)
    : open.length === 0
      ? shut[0]
      : undefined;
  if (wanted) throw SsoRequired({ details: [{ path: 'orgId', message: wanted.orgId }] });
}

/** The methods that finish a login of this user, the enrolled one first. */
export async function factorsOf(ctx: Context, userId: string, enrolled: string): Promise<string[]> {
  const methods = [enrolled];
  for (const factor of ctx.fillings('identity.factor')) {
    if (await factor.enrolled(ctx, userId)) methods.push(factor.method);
  }
  return methods;
}
