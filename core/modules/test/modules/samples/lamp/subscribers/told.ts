/** Hears what the anchor tells. */
import { defineSubscriber } from '#core';
import told from '../../anchor/events/told.ts';

export default defineSubscriber({
  on: told,
  summary: 'Writes what was told',
  async run(ctx, { data }) {
    await ctx.sql('insert into lamps (org_id, text) values ($1, $2)', [ctx.scope.orgId, `${data.text} by subscriber`]);
  },
});
