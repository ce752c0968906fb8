/** Who asks for a passkey, in the words of the standard, and what every answer must show before it is looked at closer. */
import type { Context } from '#core';

/** The page must be served from PUBLIC_URL; passkeys are bound to its host for good. */
export function relyingParty(ctx: Context): { name: string; id: string; origin: string } {
  const { hostname, origin } = new URL(ctx.services.config.http.publicUrl);
  return { name: 'Quartermaster', id: hostname, origin };
}

/** The library reads certificates too, which takes a while to load: the first ceremony pays, not every start. */
export const webauthn = () => import('@simplewebauthn/server');

/** What authenticators keep to tell accounts apart: the account's random id, and nothing about the person. */
export const handleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');

/**
 * Throws for an answer that was made inside a frame of somebody else's page: nobody embeds this product. The library
 * checks that only in part (WebAuthn Level 3, sections 7.1 and 7.2, crossOrigin and topOrigin).
 */
export function mustBeOwnPage(clientDataJSON: string): void {
  const said = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8')) as {
    crossOrigin?: unknown;
    topOrigin?: unknown;
  };
  if (said.crossOrigin === true || said.topOrigin !== undefined)
    throw new Error('the answer comes from within a frame');
}
