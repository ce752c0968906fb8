/** Counts API key use in batches, away from the request (spec/1-identity, API key authentication step 7). */
import { defineBatch } from '../contract.ts';

export const keyUse = defineBatch<{ keyId: string; expired: boolean }, null>({
  name: 'core/api-key-use',
  maxSize: 1000,
  async run(sql, items) {
    const used = Map.groupBy(
      items.filter((item) => !item.expired),
      (item) => item.keyId,
    );
    await sql(
      `update api_keys k set usage_count = k.usage_count + u.times, last_used_at = now()
       from unnest($1::uuid[], $2::int[]) u (id, times) where k.id = u.id`,
      [[...used.keys()], [...used.values()].map((list) => list.length)],
    );
    const expired = items.filter((item) => item.expired).map((item) => item.keyId);
    if (expired.length > 0) {
      await sql(`update api_keys set status = 'expired' where id = any($1::uuid[]) and status = 'active'`, [expired]);
    }
    return items.map(() => null);
  },
});
