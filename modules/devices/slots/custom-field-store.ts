/** Devices keep the values of custom fields: how many hold one, and how they are stripped. */
import { defineFilling } from '#core';

export default defineFilling({
  slot: 'custom-fields.store',
  value: {
    async stripKey(ctx, { fieldKey, orgIds, limit }) {
      const { rows } = await ctx.sql(
        `update devices set custom_fields = custom_fields - $1 where id in (
           select id from devices where org_id = any($2::uuid[]) and custom_fields ? $1 order by id limit $3 for update)
         returning id`,
        [fieldKey, orgIds, limit],
      );
      return rows.length;
    },
    async countKey(ctx, { fieldKey, orgIds }) {
      const { rows } = await ctx.sql<{ n: number }>(
        'select count(*) as n from devices where org_id = any($2::uuid[]) and custom_fields ? $1',
        [fieldKey, orgIds],
      );
      return rows[0]?.n ?? 0;
    },
  },
});
