/** Compiles a saved filter for the list of devices. */
import { defineContribution } from '#core';
import { compile } from '../services/compilations.ts';
import { limited } from '../services/evaluations.ts';
import { readFilter } from '../services/filters.ts';

export default defineContribution('devices.filter', {
  async condition(ctx, filterId, first) {
    const { conditions } = await readFilter(ctx, filterId);
    const compiled = await compile(ctx, conditions, { first });
    return { ...compiled, limited: (run) => limited(ctx, compiled, run) };
  },
});
