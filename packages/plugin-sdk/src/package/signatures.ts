/** Signatures of packages: Ed25519 over the package's SHA-256, by a key that the operator trusts. */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

export interface TrustedKey {
  id: string;
  /** Base64 of the 32 bytes. */
  publicKey: string;
}

export const packageHash = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
/** What is signed; its first line keeps the key's other signatures from being passed off as one of a package. */
const statement = (sha256: string) => Buffer.from(`quartermaster-plugin-v1\n${sha256}\n`);

/** `keyId:base64`, as the header `x-plugin-signature` carries it and files `*.sig` hold it. */
export const signPackage = (content: Uint8Array, keyId: string, privateKey: KeyObject): string =>
  `${keyId}:${sign(null, statement(packageHash(content)), privateKey).toString('base64')}`;

/** The id of the key whose signature it is; null where none of these keys made it. */
export function verifyPackage(sha256: string, signature: string, keys: readonly TrustedKey[]): string | null {
  const [keyId = '', base64 = ''] = signature.trim().split(':');
  const key = keys.find(({ id }) => id === keyId);
  if (!key) return null;
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.publicKey, 'base64').toString('base64url') },
    format: 'jwk',
  });
  return verify(null, statement(sha256), publicKey, Buffer.from(base64, 'base64')) ? key.id : null;
}

/** SHA-256 of the key's bytes, in hexadecimal: what tells it from another key of the same id. */
export const keyFingerprint = ({ publicKey }: TrustedKey): string => packageHash(Buffer.from(publicKey, 'base64'));
