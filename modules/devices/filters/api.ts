/** What other modules can call: `ctx.use('filters')`. */
import { type BoundApi, type Context, defineApi } from '#core';
import type { Group } from './models/condition.ts';
import { type Compiled, compile } from './services/compilations.ts';
import { limited, matching } from './services/evaluations.ts';
import { readFilter } from './services/filters.ts';

/**
 * A saved filter; throws 404 when it is out of reach. Copy its conditions: later changes of the filter do not change the copy.
 */
async function read(ctx: Context, id: string): Promise<{ id: string; orgId: string; name: string; conditions: Group }> {
  const { orgId, name, conditions } = await readFilter(ctx, id);
  return { id, orgId, name, conditions };
}

export const api = defineApi({ compile, limited, matching, read });

interface FiltersApi extends Omit<BoundApi<typeof api>, 'limited'> {
  /** Runs a statement with compiled conditions under their time limit. Throws FILTER_TOO_EXPENSIVE; the transaction may go on. */
  limited<T>(compiled: Pick<Compiled, 'limit'>, run: () => Promise<T>): Promise<T>;
}

declare module '#core/contract' {
  interface Apis {
    filters: FiltersApi;
  }
}
