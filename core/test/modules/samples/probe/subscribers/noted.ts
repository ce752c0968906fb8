/** Writes down what it hears. */
import { defineSubscriber } from '#core';
import noted from '../events/noted.ts';

export default defineSubscriber({
  on: noted,
  summary: 'Writes a note for an event',
  async run(ctx, event) {
    await ctx.sql('insert into notes (org_id, text) values ($1, $2) on conflict do nothing', [
      event.orgId,
      event.data.text,
    ]);
  },
});
