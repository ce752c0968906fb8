/** How other modules take part in logins: single sign-on rules and further second factors. */
import type { Context } from '#core';
import { SsoRequired } from '../../errors.ts';
import { choosePlace, type Membership, placesOf } from './places.ts';

/** Fills `identity.login-rule`. */
export interface LoginRule {
  /** The organizations among these that enforce single sign-on and accept no password. Runs on the platform's role. */
  withoutPassword(ctx: Context, orgIds: readonly string[]): Promise<readonly string[]>;
}
/** Fills `identity.factor`: a second factor besides the authenticator and text messages. */
export interface ExtraFactor {
  /** Its name in `mfaMethods`. */
  method: string;
  /** Whether the user has enrolled it. Runs on the platform's role. */
  enrolled(ctx: Context, userId: string): Promise<boolean>;
  /** Removes everything that the user has enrolled. Runs on the platform's role. */
  forget(ctx: Context, userId: string): Promise<void>;
}

/** The places that accept a password. */
export async function passwordPlaces(ctx: Context, places: readonly Membership[]): Promise<Membership[]> {
  const orgIds = places.flatMap(({ orgId }) => orgId ?? []);
  if (orgIds.length === 0) return [...places];
  const closed = new Set<string>();
  for (const rule of ctx.contributions('identity.login-rule')) {
    for (const orgId of await rule.withoutPassword(ctx, orgIds)) closed.add(orgId);
  }
  return places.filter(({ orgId }) => orgId === null || !closed.has(orgId));
}

/** Throws SSO_REQUIRED with the organization when the requested place, or every place, accepts no password. */
export function mustTakePassword(
  places: readonly Membership[],
  open: readonly Membership[],
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

/** The methods that can complete this user's login, the enrolled one first. */
export async function factorsOf(ctx: Context, userId: string, enrolled: string): Promise<string[]> {
  const methods = [enrolled];
  for (const factor of ctx.contributions('identity.factor')) {
    if (await factor.enrolled(ctx, userId)) methods.push(factor.method);
  }
  return methods;
}

/**
 * The named place, else the first, of those that open without the organization's identity provider: for logins that do not
 * use the provider. Throws SSO_REQUIRED, 403 when the user has no such place.
 */
export async function choosePasswordPlace(
  ctx: Context,
  userId: string,
  named: { orgId?: string; partnerId?: string },
): Promise<Membership> {
  const places = await placesOf(ctx, userId);
  const open = await passwordPlaces(ctx, places);
  mustTakePassword(places, open, named);
  return choosePlace(open, named);
}
