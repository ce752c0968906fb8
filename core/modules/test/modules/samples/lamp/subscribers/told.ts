/** Hears what the anchor tells. */
import { defineSubscriber } from '#core';

export default defineSubscriber({
  on: 'anchor.told',
  summary: 'Writes what was told',
  async run(ctx, { data }) {
    await ctx.sql('insert into lamps (org_id, text) values ($1, $2)', [ctx.scope.orgId, `${data.text} by subscriber`]);
  },
});
