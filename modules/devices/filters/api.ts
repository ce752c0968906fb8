/** What other modules may ask of filters: `ctx.use('filters')`, and the slot in which they add fields. */
import type { Context } from '#core';
import type { Group } from './models/condition.ts';
import type { FieldSource } from './models/field.ts';
import { type Compiled, type CompileOptions, compile } from './services/compilations.ts';
import { limited, type MatchOptions, matching } from './services/evaluations.ts';
import { readFilter } from './services/filters.ts';

export const api = (ctx: Context) => ({
  /**
   * The tree as a condition over `devices d`, with parameters and joins. Checks it first: throws VALIDATION_ERROR with the
   * path of each fault. It says nothing of who sees which devices and which states count: the statement that it becomes
   * part of does. Run that statement through `limited`.
   */
  compile: (conditions: unknown, options?: CompileOptions): Promise<Compiled> => compile(ctx, conditions, options),
  /** Runs a statement with compiled conditions under their time limit. Throws FILTER_TOO_EXPENSIVE; the work may go on. */
  limited: <T>(compiled: Pick<Compiled, 'limit'>, run: () => Promise<T>): Promise<T> => limited(ctx, compiled, run),
  /** The ids of the active devices within the caller's reach that match, sorted. Throws both errors. */
  matching: (conditions: unknown, options?: MatchOptions): Promise<string[]> => matching(ctx, conditions, options),
  /** A saved filter; 404 when the caller does not reach it. To be copied by value: later edits are not followed. */
  read: async (id: string): Promise<{ id: string; orgId: string; name: string; conditions: Group }> => {
    const { orgId, name, conditions } = await readFilter(ctx, id);
    return { id, orgId, name, conditions };
  },
});

declare module '#core/contract' {
  interface Apis {
    filters: ReturnType<typeof api>;
  }
  interface Slots {
    'filters.field': FieldSource;
  }
}
