/** A signed list of the keys that may sign programs: the only way in which an enrolled agent comes to trust other keys. */

/** What is signed, in canonical JSON. */
export interface TrustList {
  /** Distinguishes the list from the manifest of a program, which the same keys sign. */
  purpose: 'trust-keys';
  /** ISO 8601. An agent takes only a list that is newer than its last one. */
  issuedAt: string;
  /** Raw Ed25519 public keys in base64: all that agents trust from then on. */
  keys: string[];
}

/** The canonical text and its signature, each in base64. */
export const TRUST_LIST = /^[A-Za-z0-9+/]{1,8000}={0,2}\.[A-Za-z0-9+/]{86}==$/;

export const packTrustList = (text: string, signature: Buffer): string =>
  `${Buffer.from(text).toString('base64')}.${signature.toString('base64')}`;

/** Undefined for anything that `packTrustList` does not produce. */
export function unpackTrustList(packed: string): { text: string; signature: Buffer } | undefined {
  if (!TRUST_LIST.test(packed)) return undefined;
  const [text = '', signature = ''] = packed.split('.');
  return { text: Buffer.from(text, 'base64').toString('utf8'), signature: Buffer.from(signature, 'base64') };
}
