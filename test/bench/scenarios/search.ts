/** GET /search over 100,000 devices for a partner who sees all, and what row-level security costs it. */
import { type Database, openDatabase } from '../../../core/database/pools.ts';
import { searchDevices } from '../../../modules/devices/devices/services/lists/name-search.ts';
import { type Fleet, makeFleet } from '../fleet.ts';
import { type Ground, openBench } from '../ground.ts';
import { request } from '../request.ts';
import { inRole, policyCost } from '../roles.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const SIZE = { devices: 100_000, organizations: 50, software: 0, seed: 42 };
const PEOPLE = 5000;
/** What is typed, and why: beginnings and parts that many names have, one that a single name has, one that none has. */
const TERMS = { 'common beginning': 'ber', 'common part': 'lap', rare: '042424', 'two letters of nobody': 'qx' };

export const scenario: Scenario = {
  title: `GET /search over ${SIZE.devices} devices and ${PEOPLE} people in ${SIZE.organizations} organizations, ms one at a time`,
  async run({ seconds, server }) {
    const ground = await openBench(seconds, server);
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 4, onError: () => undefined });
    try {
      const fleet = await makeFleet(ground, SIZE);
      await addPeople(ground, fleet);
      const figures: Record<string, number> = {};
      for (const [name, term] of Object.entries(TERMS)) {
        const { p50, p99 } = await overHttp(ground, fleet, term);
        figures[`${name}: p50 ms`] = rounded(p50);
        figures[`${name}: p99 ms`] = rounded(p99);
        figures[`${name}: row-level security costs %`] = await costOf(ground, database, fleet, term);
      }
      return figures;
    } finally {
      await database.close();
      await ground.close();
    }
  },
};

async function addPeople(ground: Ground, { orgIds }: Fleet): Promise<void> {
  await ground.sql(
    `with made as (insert into users (email, name) select 'person' || n || '@example.com', 'Person ' || n
       from generate_series(1, $2::int) n returning id)
     insert into organization_users (org_id, user_id, role_id)
     select ($1::uuid[])[1 + row_number() over () % cardinality($1::uuid[])], m.id, '00000000-0000-4000-8000-000000000004' from made m`,
    [orgIds, PEOPLE],
  );
  await ground.sql('vacuum analyze users, organization_users');
}

async function overHttp(ground: Ground, { partner }: Fleet, term: string) {
  const client = request(await ground.api(), 1);
  const headers = { authorization: `Bearer ${partner.token}` };
  const figures = await drive(ground.seconds, 1, async () => {
    const status = await client.send('GET', `/api/v1/search?q=${term}`, headers);
    if (status !== 200) throw new Error(`answered ${status}`);
  });
  await client.close();
  return figures;
}

/** The statement of the search for devices, once where the policy limits it and once where it lets every row pass. */
const costOf = ({ seconds }: Ground, database: Database, fleet: Fleet, term: string): Promise<number> =>
  policyCost(database, 5, async (pool) => {
    const step = () => inRole(pool, fleet, (ctx) => searchDevices(ctx, term, 20));
    return (await drive(Math.max(0.5, seconds / 5), 1, step)).p50;
  });
