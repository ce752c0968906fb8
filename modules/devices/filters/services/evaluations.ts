/** Runs conditions: limited to devices that the caller sees, and to a time limit. */
import { type Context, databaseErrorOf, reach } from '#core';
import { TooExpensive } from '../errors.ts';
import { Params } from '../operators/kind.ts';
import { type Compiled, compile } from './compilations.ts';

/** A condition over `devices d`: the devices of the caller's organizations, sites and groups, as in `Model.in(ctx)`. */
export const visible = (ctx: Context, params: Params): string =>
  reach(ctx, 'd', (value, type) => params.add(value, type));

/**
 * Runs a statement with the conditions under their time limit. Throws 400 FILTER_TOO_EXPENSIVE; then the statement is rolled back
 * to a savepoint, and the transaction can go on.
 */
export async function limited<T>(ctx: Context, { limit }: Pick<Compiled, 'limit'>, run: () => Promise<T>): Promise<T> {
  if (limit === null) return run();
  await ctx.sql(`savepoint filters_limit; set local statement_timeout = ${limit}`);
  try {
    const result = await run();
    // Restores the previous limit, of the role or of the database.
    await ctx.sql('set local statement_timeout to default; release savepoint filters_limit');
    return result;
  } catch (error) {
    await ctx.sql('rollback to savepoint filters_limit; release savepoint filters_limit');
    // 57014: canceled by the time limit.
    throw databaseErrorOf(error)?.code === '57014' ? TooExpensive() : error;
  }
}

export interface MatchOptions {
  /** Only devices of this organization, with its field definitions; all that the caller reaches when absent. */
  orgId?: string;
  /** Only these devices. */
  deviceIds?: readonly string[];
}

/**
 * The ids of the active devices that the caller sees and that match, sorted; devices in other states are never targets. Throws
 * VALIDATION_ERROR and FILTER_TOO_EXPENSIVE.
 */
export async function matching(ctx: Context, conditions: unknown, options: MatchOptions = {}): Promise<string[]> {
  const { orgId, deviceIds } = options;
  const params = new Params();
  const parts = [visible(ctx, params), `d.lifecycle = 'active'`];
  if (orgId) parts.push(`d.org_id = ${params.add(orgId, 'uuid')}`);
  if (deviceIds) parts.push(`d.id = any(${params.add(deviceIds, 'uuid[]')})`);
  const compiled = await compile(ctx, conditions, {
    ...(orgId ? { orgIds: [orgId] } : {}),
    few: deviceIds !== undefined && deviceIds.length <= 1000,
    first: params.list.length + 1,
  });
  const joins = compiled.joins.map((join) => join.sql).join(' ');
  // reach: the first of the parts is visible(), which is reach()
  const text = `select d.id from devices d ${joins} where ${parts.join(' and ')} and (${compiled.where}) order by d.id`;
  const { rows } = await limited(ctx, compiled, () =>
    ctx.sql<{ id: string }>(text, [...params.list, ...compiled.params]),
  );
  return rows.map((row) => row.id);
}
