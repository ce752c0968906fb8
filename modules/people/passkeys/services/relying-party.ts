/** The relying party of the WebAuthn standard, and the checks that every answer must pass first. */
import type { Context } from '#core';

/** The page must be served from PUBLIC_URL; passkeys are bound to its host permanently. */
export function relyingParty(ctx: Context): { name: string; id: string; origin: string } {
  const { hostname, origin } = new URL(ctx.services.config.http.publicUrl);
  return { name: 'Quartermaster', id: hostname, origin };
}

/** The library also parses certificates, which takes a while to load: the first ceremony loads it instead of every start. */
export const webauthn = () => import('@simplewebauthn/server');

/** How authenticators tell accounts apart: the account's random id, which reveals nothing about the user. */
export const handleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');

/**
 * Throws for an answer from inside a frame of another site: this product is never embedded. The library checks that only in
 * part (WebAuthn Level 3, sections 7.1 and 7.2, crossOrigin and topOrigin).
 */
export function mustBeOwnPage(clientDataJSON: string): void {
  const said = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8')) as {
    crossOrigin?: unknown;
    topOrigin?: unknown;
  };
  if (said.crossOrigin === true || said.topOrigin !== undefined)
    throw new Error('the answer comes from within a frame');
}
