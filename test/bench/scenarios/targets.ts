/** A target over 100,000 devices, a nested filter with exclusions, against the statement of the filter alone. */
import { type Database, openDatabase } from '../../../core/database/pools.ts';
import { loadModules } from '../../../core/loader/load.ts';
import { compile } from '../../../modules/devices/filters/services/compilations.ts';
import { matching } from '../../../modules/devices/filters/services/evaluations.ts';
import { resolve } from '../../../modules/devices/targets/services/resolutions.ts';
import { NESTED } from '../filter-statements.ts';
import { type Fleet, makeFleet } from '../fleet.ts';
import { openBench } from '../ground.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const SIZE = { devices: 100_000, organizations: 50, software: 20, seed: 42 };
interface Statement {
  text: string;
  values: unknown[];
}

export const scenario: Scenario = {
  title: `a target over ${SIZE.devices} devices in ${SIZE.organizations} organizations, p50 of its statement in ms one at a time`,
  async run({ seconds, server }) {
    const ground = await openBench(seconds, server);
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 2, onError: () => undefined });
    try {
      const fleet = await makeFleet(ground, SIZE);
      const excluded = await ground.sql<{ id: string }>('select id from devices order by id limit 1000');
      const sites = await ground.sql<{ id: string }>('select id from sites order by id limit 20');
      const exclude = {
        deviceIds: excluded.map(({ id }) => id),
        siteIds: sites.map(({ id }) => id),
        tags: ['left-out'],
      };
      const owner = { orgId: null, partnerId: fleet.partnerId };
      const filter = NESTED.conditions as Record<string, unknown>;
      const target = await captured(fleet, (ctx) => resolve(ctx, { type: 'filter', filter, exclude }, owner));
      const alone = await captured(fleet, (ctx) => matching(ctx, filter));
      const ways = { target: runner(database, fleet, target), alone: runner(database, fleet, alone) };
      const [few, all] = [await ways.target(), await ways.alone()];
      if (few === 0 || few >= all) throw new Error(`${few} devices of ${all}: the exclusions do nothing`);
      const seen: Record<keyof typeof ways, number[]> = { target: [], alone: [] };
      await drive(seconds * 2, 1, async () => {
        for (const way of ['target', 'alone'] as const) {
          const began = performance.now();
          await ways[way]();
          seen[way].push(performance.now() - began);
        }
      });
      const of = (way: keyof typeof ways) => seen[way].sort((a, b) => a - b)[Math.floor(seen[way].length / 2)] ?? 0;
      return {
        devices: few,
        'p50 ms of the target': rounded(of('target')),
        'p50 ms of the filter alone': rounded(of('alone')),
        'ratio, target / filter': rounded(of('target') / of('alone')),
      };
    } finally {
      await database.close();
      await ground.close();
    }
  },
};

/** Under row-level security, as a request; returns the number of devices. */
const runner =
  ({ app }: Database, { orgIds, partnerId }: Fleet, { text, values }: Statement) =>
  async (): Promise<number> => {
    const client = await app.connect();
    try {
      await client.query(
        `begin; select set_config('app.org_ids', '{${orgIds.join(',')}}', true), set_config('app.partner_id', '${partnerId}', true)`,
      );
      const { rows } = await client.query({ text, values, rowMode: 'array' });
      await client.query('commit');
      return rows.length;
    } finally {
      client.release();
    }
  };

type Listening = Parameters<typeof resolve>[0];

/** The statement that a service makes, taken from it with a context that only listens. */
async function captured({ orgIds, partnerId }: Fleet, run: (ctx: Listening) => Promise<unknown>): Promise<Statement> {
  const modules = await loadModules();
  const contributions = modules.flatMap((loaded) => loaded.contributions.map(({ value }) => value));
  const seen: Statement[] = [];
  const ctx = {
    scope: { kind: 'partner', partnerId, orgIds, siteIds: null, groupIds: null },
    contributionsWithin: (slot: string) =>
      contributions.flatMap(({ slot: named, value }) => ((named as string) === slot ? [{ value, orgIds: null }] : [])),
    sql: async (text: string, values: unknown[] = []) => {
      seen.push({ text, values });
      return { rows: [] };
    },
    use: () => ({
      compile: (conditions: unknown, options: object) => compile(ctx as unknown as Listening, conditions, options),
      limited: (_compiled: unknown, statement: () => Promise<unknown>) => statement(),
    }),
  };
  await run(ctx as unknown as Listening);
  const statement = seen.find(({ text }) => text.includes('from devices d'));
  if (!statement) throw new Error('no statement was made');
  return statement;
}
