/** The key-value store of a plugin within one organization; values are versioned, and their total size is limited. */
import type { Context } from '#core';
import { HostError, listed, mustHaveRoom, sizeOf, storable, storableKey } from '#plugin-sdk/host';
import { variables } from '../../variables.ts';
import type { Asked, Method } from './method.ts';

interface StoredValue {
  key: string;
  value: unknown;
  version: number;
}
const place = ({ facts: { orgId, slug, partnerId } }: Asked) => [orgId, slug, partnerId !== null];
const mine = 'org_id = $1 and slug = $2 and of_partner = $3';

/** Throws QUOTA_EXCEEDED where the plugin, its organization or the partner would have more than it may. */
async function mustLeaveRoom(ctx: Context, asked: Asked, key: string, text: string): Promise<void> {
  const { kvBytesPerOrganization, kvBytesPerPartner } = variables.of(ctx.services.config);
  // Writers take turns, so that two cannot pass a limit together.
  const all = await ctx.sql<{ ofOrg: number; ofPartner: number }>(
    'select of_org::float8 as "ofOrg", of_partner::float8 as "ofPartner" from plugin_kv_room($1, $2)',
    [asked.facts.orgId, kvBytesPerPartner],
  );
  const { rows } = await ctx.sql<{ bytes: number; before: number }>(
    `select coalesce(sum(bytes) filter (where key <> $4), 0)::float8 as bytes,
       coalesce(sum(bytes) filter (where key = $4), 0)::float8 as before from plugin_kv where ${mine}`,
    [...place(asked), key],
  );
  const { bytes = 0, before = 0 } = rows[0] ?? {};
  const { ofOrg = 0, ofPartner = 0 } = all.rows[0] ?? {};
  const size = sizeOf(key, text);
  mustHaveRoom(bytes, size, asked.facts.limits.kvBytes);
  const full = (whose: string, most: number) =>
    new HostError('QUOTA_EXCEEDED', `The values of all plugins of ${whose} have at most ${most} bytes`);
  if (ofOrg - before + size > kvBytesPerOrganization) throw full('the organization', kvBytesPerOrganization);
  if (ofPartner - before + size > kvBytesPerPartner) throw full('the partner', kvBytesPerPartner);
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
