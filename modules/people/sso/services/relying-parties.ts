/** OpenID Connect through the guarded HTTP client: openid-client implements the protocol, the client limits its requests. */
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { Context, Services } from '#core';
import { type Provider, secretPlace } from '../models/provider.ts';
import { discoveries } from './discoveries.ts';
import { ProviderUnfit } from './explanations.ts';

const TIMEOUT_SECONDS = 10;
const MOST_BYTES = 512 * 1024;
const WITHOUT_BODY = [204, 205, 304];

/** The guarded client in the shape of `fetch`. */
function through(http: Services['http']): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    // The client sets its own user agent and decodes by itself.
    const { 'user-agent': _, ...sent } = headers;
    const answer = await http.request(url, {
      method: method as 'GET' | 'POST',
      headers: sent,
      ...(body == null ? {} : { body: String(body) }),
      timeoutMs: TIMEOUT_SECONDS * 1000,
      maxBytes: MOST_BYTES,
      ...(signal ? { signal } : {}),
    });
    const kept = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !/^content-(encoding|length)$/.test(name)) kept.set(name, String(value));
    }
    const bare = WITHOUT_BODY.includes(answer.status);
    return new Response(bare ? null : Uint8Array.from(answer.body), { status: answer.status, headers: kept });
  };
}

const insecure = (ctx: Context) => (ctx.services.config.outbound.allowHttp ? [allowInsecureRequests] : []);

async function load(ctx: Context, issuer: string): Promise<ServerMetadata> {
  const found = await discovery(new URL(issuer), 'discovery', undefined, None(), {
    [customFetch]: through(ctx.services.http),
    timeout: TIMEOUT_SECONDS,
    execute: insecure(ctx),
  });
  const metadata = structuredClone(found.serverMetadata());
  mustBeFit(metadata);
  return metadata;
}

function mustBeFit(metadata: ServerMetadata): void {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    if (!metadata[name]) throw new ProviderUnfit('ENDPOINT_MISSING', `The discovery document lacks ${name}`);
  }
  if (metadata.issuer.includes('{')) {
    throw new ProviderUnfit('ISSUER_MISMATCH', 'This issuer answers for every directory; name your own');
  }
  const types: unknown = metadata.response_types_supported;
  if (Array.isArray(types) && !types.includes('code')) {
    throw new ProviderUnfit('UNSUPPORTED_PROVIDER', 'The provider does not support the authorization code flow');
  }
}

/** The signing keys that a provider publishes. */
export async function signingKeys(ctx: Context, metadata: ServerMetadata): Promise<unknown[]> {
  const answer = await ctx.services.http.request(metadata.jwks_uri ?? '', {
    headers: { accept: 'application/json, application/jwk-set+json' },
    timeoutMs: TIMEOUT_SECONDS * 1000,
    maxBytes: MOST_BYTES,
  });
  const { keys } = (answer.status === 200 ? answer.json() : {}) as { keys?: unknown };
  return Array.isArray(keys) ? keys : [];
}

/** The provider's discovery document. Rejects with what explain() reads. Not within a transaction. */
export const discover = (ctx: Context, issuer: string): Promise<ServerMetadata> =>
  discoveries(ctx).get(issuer, () => load(ctx, issuer));

/** The same, without the cache. */
export function rediscover(ctx: Context, issuer: string): Promise<ServerMetadata> {
  discoveries(ctx).forget(issuer);
  return discover(ctx, issuer);
}

/**
 * This installation as a client of the provider. Made for one login: signing keys are fetched with it, so that a
 * provider may change them at any time.
 */
export function clientOf(ctx: Context, provider: Provider, metadata: ServerMetadata): Configuration {
  const client = new Configuration(metadata, provider.clientId, undefined, authenticationOf(ctx, provider, metadata));
  client[customFetch] = through(ctx.services.http);
  client.timeout = TIMEOUT_SECONDS;
  for (const allow of insecure(ctx)) allow(client);
  // Without this the library trusts an ID token because it came by TLS.
  enableNonRepudiationChecks(client);
  return client;
}

function authenticationOf(ctx: Context, { id, clientSecret, clientAuth }: Provider, metadata: ServerMetadata) {
  if (clientSecret === null) return None();
  const secret = ctx.services.seal.open(clientSecret, secretPlace(id));
  // Basic applies where a provider does not say (OpenID Connect Discovery 1.0, section 3).
  const offered = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const basic =
    clientAuth === 'client_secret_basic' || (clientAuth === 'auto' && offered.includes('client_secret_basic'));
  return basic ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}
