/** The switches of the installation and of one partner, for operators and partner administrators. */
import type { Context, Module } from '#core';
import type { StoredSwitch } from '../models/switch.ts';
import { objectsOf } from './counts.ts';
import { partnerPlace } from './places.ts';
import { switchesOf } from './stored.ts';

const about = (row: StoredSwitch | undefined) => ({
  note: row?.reason ?? null,
  updatedBy: row?.updatedBy ?? null,
  updatedAt: row?.updatedAt ?? null,
});

/** With the number of partners that have each, and its objects. System callers only. */
export async function listInstance(ctx: Context) {
  const { modules } = ctx.services;
  const nowhere = { partnerId: null, orgId: null };
  const rows = await switchesOf(ctx, { level: 'instance', ...nowhere });
  const { rows: partners } = await ctx.sql<{ id: string }>('select id from partners where deleted_at is null');
  const show = async (module: Module) => {
    const key = module.name;
    const off = modules.off(key, {});
    return {
      key,
      enabled: off === null,
      reason: module.core ? 'core' : off,
      locked: rows.get(key)?.locked ?? false,
      ...about(rows.get(key)),
      partnersOn: partners.filter(({ id }) => !modules.off(key, { partnerId: id })).length,
      objects: await objectsOf(ctx, module, nowhere),
    };
  };
  const data: Awaited<ReturnType<typeof show>>[] = [];
  // Sequentially: they share a connection.
  for (const module of modules.all) data.push(await show(module));
  return { data };
}

export async function listPartner(ctx: Context, query: { partnerId?: string }) {
  const { modules } = ctx.services;
  const place = await partnerPlace(ctx, query);
  const { partnerId } = place;
  const rows = await switchesOf(ctx, place);
  const { rows: off } = await ctx.sql<{ key: string; n: number }>(
    `select key, count(*)::int as n from tenant_modules
     where partner_id = $1 and org_id is not null and not enabled group by key`,
    [partnerId],
  );
  const offFor = new Map(off.map(({ key, n }) => [key, n]));
  return {
    data: modules.all.map((module) => {
      const key = module.name;
      const row = rows.get(key);
      const reason = modules.off(key, { partnerId });
      return {
        key,
        enabled: reason === null,
        reason: module.core ? 'core' : reason,
        locked: modules.locked(key),
        ...about(row),
        source: row?.source ?? null,
        expiresAt: row?.expiresAt ?? null,
        organizationsOff: offFor.get(key) ?? 0,
      };
    }),
  };
}
