/** Schedules and collectors of plugins that have come round. */
import { defineContribution } from '#core';
import { queueDue, SCHEDULED } from '../services/dispatch/schedules.ts';

export default SCHEDULED.map((kind) =>
  defineContribution('schedules.kind', {
    kind: `plugins.${kind}`,
    due: (ctx, occurrences) => queueDue(ctx, kind, occurrences),
  }),
);
