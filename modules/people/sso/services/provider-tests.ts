/** Testing a provider: whether it can be reached and has what a login needs. */
import type { Context } from '#core';
import { explain, ProviderUnfit } from './explanations.ts';
import { callbackUrl } from './presets.ts';
import { findProvider } from './providers.ts';
import { rediscover, signingKeys } from './relying-parties.ts';

/**
 * Fetches discovery and signing keys. A provider that fails is an answer, not an error: it says what to fix.
 * Only a login shows whether client id and secret are right. Needs a unit of work without an open transaction.
 */
export async function testProvider(ctx: Context, id: string) {
  const { issuer } = await ctx.asPlatform((own) => findProvider(own, id));
  const result = await tryOut(ctx, issuer);
  const checkedAt = new Date();
  await ctx.asPlatform((own) =>
    // The issuer was changed meanwhile: the result does not apply to the new one.
    own.sql('update sso_providers set tested_at = $3 where id = $1 and issuer = $2', [
      ...[id, issuer],
      result.success ? checkedAt : null,
    ]),
  );
  return { ...result, issuer, checkedAt, callbackUrl: callbackUrl(ctx) };
}

async function tryOut(ctx: Context, issuer: string) {
  try {
    const metadata = await rediscover(ctx, issuer);
    const keys = await signingKeys(ctx, metadata);
    if (keys.length === 0) throw new ProviderUnfit('NO_SIGNING_KEY', 'The provider publishes no signing keys');
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint = null } = metadata;
    const endpoints = {
      authorization: authorization_endpoint,
      token: token_endpoint,
      jwks: jwks_uri,
      userinfo: userinfo_endpoint,
    };
    return { success: true, endpoints };
  } catch (error) {
    const { code, message } = explain(error);
    return { success: false, error: { code, message } };
  }
}
