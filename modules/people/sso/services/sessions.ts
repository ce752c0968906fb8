/** Logins at the provider: kept ten minutes, used once, finished in the browser that began them. */
import { randomUUID } from 'node:crypto';
import type { Context, ReplyOptions } from '#core';
import { newOpaqueToken, sha256Hex } from '#core/auth';
import type { Provider } from '../models/provider.ts';

/** Time for a login at the provider. */
const SESSION_SECONDS = 600;
const COOKIE = 'svc_sso_state';
const COOKIE_PATH = '/api/v1/sso';
const TOKEN = /^[\w-]{43}$/;

export interface SsoSession {
  id: string;
  providerId: string;
  issuer: string;
  clientId: string;
  codeVerifier: string;
  nonce: string;
  returnTo: string | null;
  browserHash: string;
  expired: boolean;
}

/** The secret of this browser, from its cookie; null without a cookie of ours. */
export function browserOf(cookies: Record<string, unknown>): string | null {
  const value = cookies[COOKIE];
  return typeof value === 'string' && TOKEN.test(value) ? value : null;
}

export const newBrowser = (): string => newOpaqueToken('');

/** Must be sent with the provider's redirect, which begins on another site: `Lax`, since `Strict` would not be sent. */
export const browserCookie = (browser: string): NonNullable<ReplyOptions['cookies']> => ({
  [COOKIE]: { value: browser, path: COOKIE_PATH, maxAgeSeconds: SESSION_SECONDS, sameSite: 'Lax' },
});

const verifierPlace = (id: string) => ({ table: 'sso_sessions', column: 'code_verifier', row: id });

/** @returns the state to send along. Needs the platform role. */
export async function openSession(
  ctx: Context,
  provider: Pick<Provider, 'id' | 'issuer' | 'clientId'>,
  login: { codeVerifier: string; nonce: string; returnTo: string | null; browser: string },
): Promise<string> {
  const id = randomUUID();
  const state = newOpaqueToken('');
  const { codeVerifier, nonce, returnTo, browser } = login;
  await ctx.sql(
    `insert into sso_sessions (id, state_hash, browser_hash, provider_id, issuer, client_id, code_verifier, nonce,
       return_to, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10))`,
    [
      ...[id, sha256Hex(state), sha256Hex(browser), provider.id, provider.issuer, provider.clientId],
      ...[ctx.services.seal.seal(codeVerifier, verifierPlace(id)), nonce, returnTo, SESSION_SECONDS],
    ],
  );
  return state;
}

/** Takes the session of a state, which can be used once, by any caller. Null when there is none. Needs the platform role. */
export async function takeSession(ctx: Context, state: string): Promise<SsoSession | null> {
  const { rows } = await ctx.sql<SsoSession>(
    `delete from sso_sessions where state_hash = $1
     returning id, provider_id as "providerId", issuer, client_id as "clientId", code_verifier as "codeVerifier", nonce,
       return_to as "returnTo", browser_hash as "browserHash", expires_at <= now() as expired`,
    [sha256Hex(state)],
  );
  const [found] = rows;
  if (!found) return null;
  return { ...found, codeVerifier: ctx.services.seal.open(found.codeVerifier, verifierPlace(found.id)) };
}
