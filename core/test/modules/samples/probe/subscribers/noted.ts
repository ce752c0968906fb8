/** Writes down what it hears. */
import { actedBy, defineSubscriber, mayAct } from '#core';
import noted from '../events/noted.ts';

export default defineSubscriber({
  on: noted,
  summary: 'Writes a note for an event',
  async run(ctx, event) {
    await ctx.sql('insert into notes (org_id, text) values ($1, $2) on conflict do nothing', [
      event.orgId,
      event.data.text,
    ]);
    // One that answers its own event would go on for ever.
    if (event.data.text.startsWith('echo') && mayAct(event, 'probe:echo') && event.depth < 9)
      ctx.emit(noted, event.data);
    if (event.data.text.startsWith('named') && mayAct(event, 'probe:named'))
      ctx.emit(noted, event.data, { causation: actedBy(ctx.causation, 'probe:named') });
  },
});
