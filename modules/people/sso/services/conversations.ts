/** One login at the provider: the address to send the browser to, and the identity in its answer. */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
} from 'openid-client';
import type { Context } from '#core';
import { LoginRefused } from '../errors.ts';
import type { Provider } from '../models/provider.ts';
import { type Person, readPerson } from './claims.ts';
import { discoveries } from './discoveries.ts';
import { explain } from './explanations.ts';
import { callbackUrl } from './presets.ts';
import { clientOf, discover } from './relying-parties.ts';
import type { SsoSession } from './sessions.ts';

const CODES = { way: 'provider_unreachable', provider: 'provider_error', answer: 'invalid_response' } as const;

/** Converts errors of a provider into LoginRefused; the next login fetches its discovery document again. */
async function heeding<T>(ctx: Context, issuer: string, talk: () => Promise<T>): Promise<T> {
  try {
    return await talk();
  } catch (error) {
    if (error instanceof LoginRefused) throw error;
    discoveries(ctx).forget(issuer);
    const { about, code, message } = explain(error);
    throw new LoginRefused(CODES[about], `${code}: ${message}`);
  }
}

export interface Departure {
  codeVerifier: string;
  nonce: string;
  /** Where the browser goes, once the state is known. */
  to(state: string): string;
}

/** Throws LoginRefused when the provider cannot be asked. Not within a transaction. */
export function depart(ctx: Context, provider: Provider): Promise<Departure> {
  return heeding(ctx, provider.issuer, async () => {
    const client = clientOf(ctx, provider, await discover(ctx, provider.issuer));
    const codeVerifier = randomPKCECodeVerifier();
    const nonce = randomNonce();
    const parameters = {
      redirect_uri: callbackUrl(ctx),
      scope: provider.scopes.join(' '),
      nonce,
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    };
    return { codeVerifier, nonce, to: (state) => buildAuthorizationUrl(client, { ...parameters, state }).href };
  });
}

/**
 * Who the provider says has come back. Checked on the way: state, issuer, signature, audience, times and nonce of the ID
 * token, and that user info is about the same subject. Throws LoginRefused. Not within a transaction.
 */
export function identify(
  ctx: Context,
  provider: Provider,
  session: SsoSession,
  answer: Record<string, unknown>,
): Promise<Person> {
  return heeding(ctx, provider.issuer, async () => {
    const metadata = await discover(ctx, provider.issuer);
    const client = clientOf(ctx, provider, metadata);
    const tokens = await authorizationCodeGrant(client, urlOf(ctx, answer), {
      expectedState: String(answer.state),
      expectedNonce: session.nonce,
      pkceCodeVerifier: session.codeVerifier,
      idTokenExpected: true,
    });
    const idToken = tokens.claims();
    if (!idToken) throw new LoginRefused('invalid_response', 'there is no ID token');
    const userInfo = metadata.userinfo_endpoint
      ? await fetchUserInfo(client, tokens.access_token, idToken.sub)
      : { sub: idToken.sub };
    return readPerson(provider, idToken, userInfo);
  });
}

/** The address the browser came back to; repeated parameters stay repeated, for the library to refuse. */
function urlOf(ctx: Context, answer: Record<string, unknown>): URL {
  const url = new URL(callbackUrl(ctx));
  for (const [name, value] of Object.entries(answer)) {
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return url;
}
