/** The key-value store of a plugin within one organization; values are versioned, and their total size is limited. */
import type { Context } from '#core';
import { HostError, listed, mustHaveRoom, sizeOf, storable, storableKey } from '#plugin-sdk/host';
import type { Asked, Method } from './method.ts';

interface StoredValue {
  key: string;
  value: unknown;
  version: number;
}
const place = ({ facts: { orgId, slug, partnerId } }: Asked) => [orgId, slug, partnerId !== null];
const mine = 'org_id = $1 and slug = $2 and of_partner = $3';

async function mustLeaveRoom(ctx: Context, asked: Asked, key: string, text: string): Promise<void> {
  const most = asked.facts.limits.kvBytes;
  // Writers of one plugin take turns, so that two cannot pass the limit together.
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`plugin-kv:${place(asked).join(':')}`]);
  const { rows } = await ctx.sql<{ bytes: number }>(
    `select coalesce(sum(bytes), 0)::float8 as bytes from plugin_kv where ${mine} and key <> $4`,
    [...place(asked), key],
  );
  mustHaveRoom(rows[0]?.bytes ?? 0, sizeOf(key, text), most);
}

const WRITE = `
insert into plugin_kv as k (org_id, slug, of_partner, key, value, bytes) values ($1, $2, $3, $4, $5::jsonb, $6)
on conflict (org_id, slug, of_partner, key) do update
set value = excluded.value, bytes = excluded.bytes, version = k.version + 1, updated_at = now()`;

export const kvMethods: Record<string, Method> = {
  'kv.get': async (ctx, { key }: { key: string }, asked) => {
    const { rows } = await ctx.sql<StoredValue>(`select value, version from plugin_kv where ${mine} and key = $4`, [
      ...place(asked),
      storableKey(key),
    ]);
    return rows[0] ?? null;
  },
  'kv.set': async (ctx, { key, value }: { key: string; value: unknown }, asked) => {
    const text = storable(value);
    await mustLeaveRoom(ctx, asked, storableKey(key), text);
    const values = [...place(asked), storableKey(key), text, sizeOf(key, text)];
    const { rows } = await ctx.sql<StoredValue>(`${WRITE} returning value, version`, values);
    return rows[0];
  },
  'kv.cas': async (ctx, { key, value, version }: { key: string; value: unknown; version: number | null }, asked) => {
    const text = storable(value);
    await mustLeaveRoom(ctx, asked, storableKey(key), text);
    const values = [...place(asked), storableKey(key), text, sizeOf(key, text)];
    const { rows } =
      version === null
        ? await ctx.sql<StoredValue>(
            `insert into plugin_kv (org_id, slug, of_partner, key, value, bytes) values ($1, $2, $3, $4, $5::jsonb, $6)
             on conflict do nothing returning value, version`,
            values,
          )
        : await ctx.sql<StoredValue>(
            `update plugin_kv set value = $5::jsonb, bytes = $6, version = version + 1, updated_at = now()
             where ${mine} and key = $4 and version = $7 returning value, version`,
            [...values, version],
          );
    if (!rows[0]) throw new HostError('CONFLICT', 'The value has been written since');
    return rows[0];
  },
  'kv.delete': async (ctx, { key }: { key: string }, asked) => {
    const { rowCount } = await ctx.sql(`delete from plugin_kv where ${mine} and key = $4`, [
      ...place(asked),
      storableKey(key),
    ]);
    return (rowCount ?? 0) > 0;
  },
  'kv.list': async (
    ctx,
    { prefix = '', after = '', limit = 100 }: { prefix?: string; after?: string; limit?: number },
    asked,
  ) => {
    const { rows } = await ctx.sql<StoredValue & { bytes: number }>(
      `select key, value, version, bytes from plugin_kv where ${mine} and key > $4 and starts_with(key, $5) order by key limit $6`,
      [...place(asked), storableKey(after), storableKey(prefix), limit],
    );
    return listed(rows).map(({ bytes: _, ...row }) => row);
  },
};
