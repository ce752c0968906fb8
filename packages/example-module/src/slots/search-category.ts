/** Search finds devices by their label. */
import { defineFilling, reach } from '@quartermaster/module-kit';

interface Hit {
  id: string;
  title: string;
  description: string;
  place: 0 | 1 | 2;
}

export default defineFilling({
  slot: 'search.category',
  value: {
    type: 'asset-labels',
    permission: 'devices:read',
    async find(ctx, { text, limit }) {
      const values: unknown[] = [text, limit];
      const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
      const { rows } = await ctx.sql<Hit>(
        `select l.id, l.label as title, d.hostname as description,
           case when lower(l.label) = lower($1) then 0 when starts_with(lower(l.label), lower($1)) then 1 else 2 end as place
         from acme_asset_labels l join devices d on d.id = l.device_id
         where strpos(lower(l.label), lower($1)) > 0 and ${seen}
         order by 4, l.label, l.id limit $2`,
        values,
      );
      return rows;
    },
  },
});
