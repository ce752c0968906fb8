/** What an identity provider of a test remembers, also when it is made anew with another key. */
import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Adapters of one provider, by the kind of what they keep. */
export function providerStore(): (name: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  return (name) => ({
    async upsert(id, payload) {
      kept.set(`${name}:${id}`, payload);
    },
    async find(id) {
      return kept.get(`${name}:${id}`);
    },
    async findByUid(uid) {
      return [...kept.values()].find((payload) => payload.kind === name && payload.uid === uid);
    },
    async findByUserCode() {
      return undefined;
    },
    async consume(id) {
      const payload = kept.get(`${name}:${id}`);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      kept.delete(`${name}:${id}`);
    },
    async revokeByGrantId(grantId) {
      for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
    },
  });
}
