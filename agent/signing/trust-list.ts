/** Signs the list of keys that agents trust from then on. */
import { type KeyObject, sign } from 'node:crypto';
import { canonicalJson, packTrustList, type TrustList } from '#agent-protocol';

/** The value of AGENT_TRUST_LIST. `entries` are those of AGENT_TRUST_KEYS. Throws a sentence for a malformed one. */
export function signTrustList(entries: readonly string[], key: KeyObject, now: Date): string {
  const keys = entries.map((entry) => {
    const [, publicKey] = /^[\w.-]{1,64}:([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
    if (!publicKey) throw new Error(`${entry} is not an entry of AGENT_TRUST_KEYS.`);
    return publicKey;
  });
  const list: TrustList = { purpose: 'trust-keys', issuedAt: now.toISOString(), keys };
  const text = canonicalJson(list);
  return packTrustList(text, sign(null, Buffer.from(text), key));
}
