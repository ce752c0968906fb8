/** The values of custom fields that devices have: counts devices with a value, and changes or removes values. */
import { type AddParameter, defineContribution, reach } from '#core';

export default defineContribution('custom-fields.store', {
  async stripKey(ctx, { fieldKey, orgIds, limit }) {
    const { rows } = await ctx.sql(
      // reach: values of a whole organization, for the owner of the field definition
      `update devices set custom_fields = custom_fields - $1 where id in (
           select id from devices where org_id = any($2::uuid[]) and custom_fields ? $1 order by id limit $3 for update)
         returning id`,
      [fieldKey, orgIds, limit],
    );
    return rows.length;
  },
  async countKey(ctx, { fieldKey, orgIds, among = null }) {
    const values: unknown[] = [fieldKey, orgIds, among];
    const add: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
    const { rows } = await ctx.sql<{ n: number }>(
      `select count(*) as n from devices d where org_id = any($2::uuid[]) and custom_fields ? $1
           and ($3::text[] is null or custom_fields ->> $1 = any($3)) and ${reach(ctx, 'd', add)}`,
      values,
    );
    return rows[0]?.n ?? 0;
  },
  async values(ctx, { fieldKey, orgIds, most }) {
    const { rows } = await ctx.sql<{ value: unknown; osType: string; count: number }>(
      // reach: values of a whole organization, for the owner of the field definition
      `select custom_fields -> $1 as value, os_type as "osType", count(*) as count from devices
         where org_id = any($2::uuid[]) and custom_fields ? $1 group by 1, 2 limit $3 + 1`,
      [fieldKey, orgIds, most],
    );
    return rows.length > most ? null : rows;
  },
  async mapValues(ctx, { fieldKey, orgIds, mapTo, limit }) {
    const { rows } = await ctx.sql(
      // reach: values of a whole organization, for the owner of the field definition
      `update devices set custom_fields = custom_fields || jsonb_build_object($1::text, $3::jsonb -> (custom_fields ->> $1))
         where id in (
           select id from devices where org_id = any($2::uuid[]) and custom_fields ->> $1 = any($4::text[])
           order by id limit $5 for no key update)
         returning id`,
      [fieldKey, orgIds, JSON.stringify(mapTo), Object.keys(mapTo), limit],
    );
    return rows.length;
  },
});
