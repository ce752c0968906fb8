/** Counts API key use in batches, away from the request. */
import { defineBatch } from '../contract/index.ts';

// By hash and not by id: uses of a key that was rotated meanwhile do not count for the new one, which starts at nothing.
// Locked in one order, so that two processes with the same keys never wait for each other.
const COUNT = `
with used as (
  select k.id, u.times from unnest($1::text[], $2::int[]) u (hash, times) join api_keys k on k.key_hash = u.hash
  order by k.id for no key update of k)
update api_keys k set usage_count = k.usage_count + used.times, last_used_at = now() from used where k.id = used.id`;

const EXPIRE = `
with over as (
  select id from api_keys where key_hash = any($1::text[]) and status = 'active' order by id for no key update)
update api_keys k set status = 'expired' from over where k.id = over.id`;

export const keyUse = defineBatch<{ keyHash: string; expired: boolean }, null>({
  name: 'core/api-key-use',
  maxSize: 1000,
  // Use and expiry of different keys have nothing to do with each other: one round trip each, and usually only one.
  autocommit: true,
  async run(sql, items) {
    const counts = new Map<string, number>();
    const expired = new Set<string>();
    for (const { keyHash, expired: over } of items) {
      if (over) expired.add(keyHash);
      else counts.set(keyHash, (counts.get(keyHash) ?? 0) + 1);
    }
    if (counts.size > 0) await sql(COUNT, [[...counts.keys()], [...counts.values()]], 'core-count-key-use');
    if (expired.size > 0) await sql(EXPIRE, [[...expired]], 'core-expire-keys');
    return items.map(() => null);
  },
});
