/** Devices keep the values of custom fields: how many hold one, how they are rewritten and stripped. */
import { defineFilling, reach } from '#core';

export default defineFilling({
  slot: 'custom-fields.store',
  value: {
    async stripKey(ctx, { fieldKey, orgIds, limit }) {
      // reach: job of the whole organization; people limited to sites or groups cannot order it
      const { rows } = await ctx.sql(
        `update devices set custom_fields = custom_fields - $1 where id in (
           select id from devices where org_id = any($2::uuid[]) and custom_fields ? $1 order by id limit $3 for update)
         returning id`,
        [fieldKey, orgIds, limit],
      );
      return rows.length;
    },
    async countKey(ctx, { fieldKey, orgIds, among = null }) {
      const values: unknown[] = [fieldKey, orgIds, among];
      const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
      const { rows } = await ctx.sql<{ n: number }>(
        `select count(*) as n from devices d where d.org_id = any($2::uuid[]) and d.custom_fields ? $1
           and ($3::text[] is null or d.custom_fields ->> $1 = any($3)) and ${seen}`,
        values,
      );
      return rows[0]?.n ?? 0;
    },
    async values(ctx, { fieldKey, orgIds, most }) {
      const values: unknown[] = [fieldKey, orgIds, most];
      const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
      const { rows } = await ctx.sql<{ value: unknown; osType: string; count: number }>(
        `select d.custom_fields -> $1 as value, d.os_type as "osType", count(*) as count from devices d
         where d.org_id = any($2::uuid[]) and d.custom_fields ? $1 and ${seen} group by 1, 2 limit $3 + 1`,
        values,
      );
      return rows.length > most ? null : rows;
    },
    async mapValues(ctx, { fieldKey, orgIds, mapTo, limit }) {
      // reach: job of the whole organization; people limited to sites or groups cannot order it
      const { rows } = await ctx.sql(
        `update devices set custom_fields = custom_fields || jsonb_build_object($1::text, $3::jsonb -> (custom_fields ->> $1))
         where id in (
           select id from devices where org_id = any($2::uuid[]) and custom_fields ->> $1 = any($4::text[])
           order by id limit $5 for no key update)
         returning id`,
        [fieldKey, orgIds, JSON.stringify(mapTo), Object.keys(mapTo), limit],
      );
      return rows.length;
    },
  },
});
