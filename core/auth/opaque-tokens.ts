/** Random tokens that mean nothing by themselves: made here, stored as hashes, compared in constant time. */
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new key with what is stored of it: the full key goes to its owner once. */
export interface NewApiKey {
  key: string;
  /** The first 12 characters, stored in plain form. */
  keyPrefix: string;
  /** SHA-256, hex. */
  keyHash: string;
}

/** A prefix and `bytes` random bytes in base64url. */
export function newOpaqueToken(prefix: string, bytes = 32): string {
  return prefix + randomBytes(bytes).toString('base64url');
}

/** `svc_` and 32 base64url characters, stored as SHA-256 with its first 12 characters. */
export function newApiKey(): NewApiKey {
  const key = newOpaqueToken('svc_', 24);
  return { key, keyPrefix: key.slice(0, 12), keyHash: sha256Hex(key) };
}

/** 64 hex characters; store its `pepperedHash`. */
export function newEnrollmentKey(): string {
  return randomBytes(32).toString('hex');
}

/** `svc_` and 64 hex characters; store its `sha256Hex`. */
export function newAgentToken(): string {
  return `svc_${randomBytes(32).toString('hex')}`;
}

/** SHA-256 of a token in hex. Only for values of high entropy: a password needs `hashPassword`. */
export function sha256Hex(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

/** HMAC-SHA-256 in hex: useless with the table alone, without the pepper. Throws `RangeError` without a pepper. */
export function pepperedHash(key: string, pepper: string): string {
  if (pepper === '') throw new RangeError('The pepper is empty');
  return createHmac('sha256', pepper).update(key).digest('hex');
}

/** HMAC-SHA-256 in hex, its key derived from the secret and the purpose: what is made for one is nothing to another. */
export function createMac(secret: string): (purpose: string, text: string) => string {
  const keys = new Map<string, Buffer>();
  return (purpose, text) => {
    const key = keys.get(purpose) ?? Buffer.from(hkdfSync('sha256', secret, '', `quartermaster mac v1 ${purpose}`, 32));
    keys.set(purpose, key);
    return createHmac('sha256', key).update(text).digest('hex');
  };
}

/** Compares two hashes without telling by its duration where they differ. */
export function equalHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
