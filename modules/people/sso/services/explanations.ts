/** Explains failures between this server and an identity provider to people. */
import { UpstreamError, UrlBlockedError } from '#core';

/** A provider that answers, but lacks what a login needs. */
export class ProviderUnfit extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'ProviderUnfit';
    this.code = code;
  }
}

export interface Explained {
  code: string;
  /** For people; contains no IP address and no secret. */
  message: string;
  /** Where the fault lies: the connection to the provider, the provider, or one of its answers. */
  about: 'way' | 'provider' | 'answer';
}

const SAYINGS: Record<string, [code: string, message: string]> = {
  OAUTH_RESPONSE_IS_NOT_CONFORM: ['UNEXPECTED_STATUS', 'The provider answered with an unexpected status'],
  OAUTH_RESPONSE_BODY_ERROR: ['PROVIDER_REFUSED', 'The provider refused the request'],
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: ['PROVIDER_REFUSED', 'The provider refused the request'],
  OAUTH_RESPONSE_IS_NOT_JSON: ['NOT_JSON', 'The provider answered with something else than JSON'],
  OAUTH_PARSE_ERROR: ['NOT_JSON', 'The provider answered with something else than JSON'],
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: ['ISSUER_MISMATCH', 'The answer is that of another issuer or person'],
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: ['CLAIM_MISMATCH', 'The ID token was not made for this login'],
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: ['TOKEN_TIME', 'The ID token has expired, or a clock is wrong'],
  OAUTH_HTTP_REQUEST_FORBIDDEN: ['INSECURE_ENDPOINT', 'The provider names an endpoint that is not https'],
  OAUTH_MISSING_SERVER_METADATA: ['ENDPOINT_MISSING', 'The discovery document lacks an endpoint that is needed'],
  OAUTH_INVALID_SERVER_METADATA: ['INVALID_DISCOVERY', 'The discovery document is not valid'],
  OAUTH_KEY_SELECTION_FAILED: ['NO_SIGNING_KEY', 'The provider publishes no key that fits the signature'],
  OAUTH_TIMEOUT: ['UPSTREAM_ERROR', 'The other side did not answer in time'],
};

const PROVIDERS = ['UNEXPECTED_STATUS', 'PROVIDER_REFUSED', 'NOT_JSON', 'ENDPOINT_MISSING', 'INVALID_DISCOVERY'];

/** Reads the errors of openid-client, of the guarded HTTP client, and ProviderUnfit. */
export function explain(error: unknown): Explained {
  if (error instanceof ProviderUnfit) return { code: error.code, message: error.message, about: 'provider' };
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof UrlBlockedError || inner instanceof UpstreamError) {
      return { code: inner.code, message: inner.message, about: 'way' };
    }
  }
  const { code: given, cause, error: said } = (error ?? {}) as { code?: unknown; cause?: unknown; error?: unknown };
  const [code, message] = SAYINGS[String(given)] ?? ['INVALID_RESPONSE', 'The answer of the provider was not valid'];
  // The error code of the provider is one of a few known words (RFC 6749, section 5.2).
  const word = typeof said === 'string' && /^\w{1,50}$/.test(said) ? said : undefined;
  const detail = word ?? (cause instanceof Response ? String(cause.status) : undefined);
  const about = code === 'UPSTREAM_ERROR' ? 'way' : PROVIDERS.includes(code) ? 'provider' : 'answer';
  return { code, message: detail ? `${message}: ${detail}` : message, about };
}
