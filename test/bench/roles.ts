/** Services of modules on a connection of a given role: the same work once under the policies and once where all rows pass. */
import type { Context } from '#core';
import type { Database } from '../../core/database/pools.ts';
import type { Fleet } from './fleet.ts';
import { inTurns, rounded } from './scenario.ts';

/** One transaction with the fleet's partner announced, as runUnitOfWork() does it; the context reads and has no more than that. */
export async function inRole<T>(pool: Database['app'], fleet: Fleet, run: (ctx: Context) => Promise<T>): Promise<T> {
  const { orgIds, partnerId } = fleet;
  const client = await pool.connect();
  try {
    await client.query(
      `begin; select set_config('app.org_ids', '{${orgIds.join(',')}}', true), set_config('app.partner_id', '${partnerId}', true)`,
    );
    const ctx = {
      scope: { kind: 'partner', partnerId, orgIds, siteIds: null, groupIds: null },
      contributions: () => [],
      contributionsWithin: () => [],
      sql: (text: string, values: unknown[] = [], name?: string) =>
        client.query(name === undefined ? { text, values } : { text, values, name }),
    };
    const result = await run(ctx as unknown as Context);
    await client.query('commit');
    return result;
  } finally {
    client.release();
  }
}

/** Percent that the policies add to the time that `step` says it took. */
export async function policyCost(
  { app, platform }: Database,
  turns: number,
  step: (pool: Database['app']) => Promise<number>,
): Promise<number> {
  const { ratio } = await inTurns(
    turns,
    () => step(app),
    () => step(platform),
  );
  return rounded((ratio - 1) * 100);
}
