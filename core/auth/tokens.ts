/** Signed tokens (JWT, HS256): access tokens, and short-lived ones for a single purpose. */
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { AccessClaims } from '../context/index.ts';

export type { AccessClaims };

/** Claims with when the token was issued and ends, in Unix seconds. */
export type Verified<Claims> = Readonly<Claims & { iat: number; exp: number }>;

/** The claims of a payload whose signature is good, or undefined when they do not have the expected shape. */
export type ReadClaims<Claims> = (payload: Readonly<Record<string, unknown>>) => Claims | undefined;

export interface TokenSigner<Claims> {
  sign(claims: Claims, ttlSeconds: number): Promise<string>;
  /** Rejects with `InvalidTokenError`. The result is frozen: the same object answers for the same token again. */
  verify(token: string): Promise<Verified<Claims>>;
}

export interface SignerOptions {
  secret: string;
  /** Default `quartermaster`. */
  issuer?: string | undefined;
  /** Who the token is for; a token for one audience is nothing to another. Default `quartermaster-api`. */
  audience?: string | undefined;
  /** The header's `typ`; default `at+jwt`. */
  typ?: string | undefined;
  /** Milliseconds since the epoch. */
  now?: (() => number) | undefined;
  /** How many verified tokens are remembered (default 5,000); 0 verifies each time. */
  cacheSize?: number | undefined;
}

/** A token that is not, or no longer, one of ours; the cause is for the log only. */
export class InvalidTokenError extends Error {
  readonly code = 'INVALID_TOKEN';

  constructor(cause?: unknown) {
    super('The token is invalid or has expired', { cause });
    this.name = 'InvalidTokenError';
  }
}

const algorithm = 'HS256';
const maxTokenLength = 4096;

/** Signs and verifies access tokens, or, with `readClaims`, tokens of another audience and shape. */
export function createTokenSigner<Claims extends object>(
  options: SignerOptions & { readClaims: ReadClaims<Claims> },
): TokenSigner<Claims>;
export function createTokenSigner(options: SignerOptions): TokenSigner<AccessClaims>;
export function createTokenSigner(options: SignerOptions & { readClaims?: ReadClaims<object> }): TokenSigner<object> {
  return buildSigner<object>(options, options.readClaims ?? readAccessClaims);
}

function buildSigner<Claims extends object>(options: SignerOptions, read: ReadClaims<Claims>): TokenSigner<Claims> {
  const { secret, issuer = 'quartermaster', audience = 'quartermaster-api', typ = 'at+jwt' } = options;
  const { now = Date.now, cacheSize = 5000 } = options;
  if (secret === '') throw new RangeError('The token secret is empty');
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'quartermaster jwt v1', 32)));
  const header = encoded({ alg: algorithm, typ });
  const known = new Map<string, Verified<Claims>>();

  async function verifyNew(token: string): Promise<Verified<Claims>> {
    if (token.length > maxTokenLength) throw new InvalidTokenError();
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      issuer,
      audience,
      typ,
      requiredClaims: ['iat', 'exp'],
      currentDate: new Date(now()),
    }).catch((error: unknown) => {
      throw new InvalidTokenError(error);
    });
    const { iat, exp } = payload;
    const claims = read(payload);
    if (claims === undefined || iat === undefined || exp === undefined) throw new InvalidTokenError();
    return Object.freeze({ ...claims, iat, exp });
  }

  return {
    // Not by jose, whose WebCrypto makes a job for the thread pool of it, beside the password hashes of the same login.
    async sign(claims, ttlSeconds) {
      const issued = Math.floor(now() / 1000);
      const ends = issued + ttlSeconds;
      const signed = `${header}.${encoded({ ...claims, iss: issuer, aud: audience, iat: issued, exp: ends })}`;
      return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
    },

    async verify(token) {
      const cached = known.get(token);
      if (cached !== undefined) {
        known.delete(token);
        if (cached.exp <= Math.floor(now() / 1000)) throw new InvalidTokenError();
        known.set(token, cached);
        return cached;
      }
      const verified = await verifyNew(token);
      if (cacheSize > 0) known.set(token, verified);
      if (known.size > cacheSize) {
        const [oldest] = known.keys();
        if (oldest !== undefined) known.delete(oldest);
      }
      return verified;
    },
  };
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function readAccessClaims(payload: Readonly<Record<string, unknown>>): AccessClaims | undefined {
  const { sub, sid, scope, mfa, partnerId, orgId, roleId } = payload;
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof mfa !== 'boolean') return undefined;
  if (scope !== 'system' && scope !== 'partner' && scope !== 'organization') return undefined;
  if (!isOptionalText(partnerId) || !isOptionalText(orgId) || !isOptionalText(roleId)) return undefined;
  return { sub, sid, scope, partnerId, orgId, roleId, mfa };
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
