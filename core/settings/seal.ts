/** Seals secrets for storage: AES-256-GCM, bound to the place they are stored in. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { SealPlace } from '../context/index.ts';

export interface SealKey {
  /** Stored with each value to find its key again; default: the first 8 hex digits of the key's fingerprint. */
  id?: string | undefined;
  secret: string;
}

export interface Sealer {
  /** The text as `v1.<keyId>.<iv>.<ciphertext and tag>`, sealed with the current key. */
  seal(plaintext: string, place: SealPlace): string;
  /** The text again. Throws `SealError` for another place, an unknown key, or a changed value. */
  open(sealed: string, place: SealPlace): string;
  /** Whether a value should be sealed anew because its key is no longer the current one. */
  needsReseal(sealed: string): boolean;
}

/** A sealed value that cannot be opened; says nothing about its content. */
export class SealError extends Error {
  readonly code = 'SEAL_BROKEN';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SealError';
  }
}

const form = /^v1\.([\w-]{1,32})\.([\w-]{16})\.([\w-]{22,})$/;
const ivBytes = 12;
const tagBytes = 16;

/**
 * Seals with the first key and opens with all. A 96-bit random nonce allows some four
 * thousand million values per key before it should be replaced.
 * Throws `SealError` when there is no key, an empty secret, or two keys with one id.
 */
export function createSealer({ keys }: { keys: readonly SealKey[] }): Sealer {
  const byId = new Map<string, Buffer>();
  let currentId: string | undefined;
  for (const { id, secret } of keys) {
    if (secret === '') throw new SealError('A sealing secret is empty');
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'quartermaster seal v1', 32));
    const keyId = id ?? createHash('sha256').update(key).digest('hex').slice(0, 8);
    if (!/^[\w-]{1,32}$/.test(keyId)) throw new SealError('A sealing key id must be 1 to 32 letters, digits, _ or -');
    if (byId.has(keyId)) throw new SealError(`Two sealing keys have the id ${keyId}`);
    byId.set(keyId, key);
    currentId ??= keyId;
  }
  const current = currentId;
  const currentKey = current === undefined ? undefined : byId.get(current);
  if (current === undefined || currentKey === undefined) throw new SealError('There is no sealing key');

  return {
    seal(plaintext, place) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', currentKey, iv, { authTagLength: tagBytes });
      cipher.setAAD(boundTo(current, place));
      const parts = [cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `v1.${current}.${iv.toString('base64url')}.${Buffer.concat(parts).toString('base64url')}`;
    },

    open(sealed, place) {
      const [, keyId = '', iv = '', rest = ''] = form.exec(sealed) ?? [];
      if (keyId === '') throw new SealError('This is not a sealed value');
      const key = byId.get(keyId);
      if (key === undefined) throw new SealError(`The sealing key ${keyId} is not configured`);
      const bytes = Buffer.from(rest, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: tagBytes });
      decipher.setAAD(boundTo(keyId, place));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SealError('A sealed value was changed or moved from its place', error);
      }
    },

    needsReseal: (sealed) => form.exec(sealed)?.[1] !== current,
  };
}

/** JSON keeps the parts apart, whatever characters they hold. */
function boundTo(keyId: string, { table, column, row }: SealPlace): Buffer {
  return Buffer.from(JSON.stringify(['v1', keyId, table, column, row]));
}
