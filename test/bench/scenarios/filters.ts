/** Filter previews over 100,000 devices for a partner who sees all, against SQL by hand, and what row-level security costs. */
import { type Database, openDatabase } from '../../../core/database/pools.ts';
import { loadModules } from '../../../core/loader/load.ts';
import { evaluate } from '../../../modules/devices/filters/services/previews.ts';
import { NESTED, ONE_CONTAINS, type Question } from '../filter-statements.ts';
import { type Fleet, makeFleet } from '../fleet.ts';
import { type Ground, openBench } from '../ground.ts';
import { request } from '../request.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const SIZE = { devices: 100_000, organizations: 50, software: 20, seed: 42 };

export const scenario: Scenario = {
  title: `POST /filters/preview over ${SIZE.devices} devices in ${SIZE.organizations} organizations, p50 in ms one at a time`,
  async run({ seconds, server }) {
    // A database of its own: other scenarios do not wait for a fleet, and dropping it takes no time.
    const ground = await openBench(seconds, server);
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 4, onError: () => undefined });
    try {
      const fleet = await makeFleet(ground, SIZE);
      return {
        ...(await measure(ground, database, fleet, 'contains', ONE_CONTAINS)),
        ...(await measure(ground, database, fleet, 'nested', NESTED)),
      };
    } finally {
      await database.close();
      await ground.close();
    }
  },
};

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** One after another in each round, so that a busy moment of the machine hits all of them. */
async function measure(ground: Ground, database: Database, fleet: Fleet, name: string, question: Question) {
  const compiled = await captured(fleet, question.conditions);
  const ways = {
    http: await overHttp(ground, fleet, question.conditions),
    byHand: () => inTransaction(database.owner, fleet, question.byHand, [fleet.orgIds]),
    // The same statement with the same parameters, where the policy limits and where it lets everything pass.
    limited: () => inTransaction(database.app, fleet, compiled.text, compiled.values),
    free: () => inTransaction(database.platform, fleet, compiled.text, compiled.values),
  };
  await sameAnswers(ways.byHand, ways.limited, ways.free);
  const seen: Record<keyof typeof ways, number[]> = { http: [], byHand: [], limited: [], free: [] };
  const round = async () => {
    for (const [way, step] of Object.entries(ways)) {
      const began = performance.now();
      await step();
      seen[way as keyof typeof ways].push(performance.now() - began);
    }
  };
  await drive(ground.seconds * 2, 1, round);
  const of = (way: keyof typeof ways) => median(seen[way]);
  return {
    [`${name}: p50 ms over HTTP`]: rounded(of('http')),
    [`${name}: p50 ms of its SQL`]: rounded(of('limited')),
    [`${name}: p50 ms of SQL by hand`]: rounded(of('byHand')),
    [`${name}: ratio, by hand / its SQL`]: rounded(of('byHand') / of('limited')),
    [`${name}: ratio, by hand / over HTTP`]: rounded(of('byHand') / of('http')),
    [`${name}: row-level security costs %`]: rounded((of('limited') / of('free') - 1) * 100),
  };
}

/** Through one connection of the given role, with the tenant announced as runUnitOfWork() does it; the rows as text. */
async function inTransaction(pool: Database['owner'], fleet: Fleet, text: string, values: unknown[]): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query(
      `begin; select set_config('app.org_ids', '{${fleet.orgIds.join(',')}}', true), set_config('app.partner_id', '${fleet.partnerId}', true)`,
    );
    const { rows } = await client.query({ text, values, rowMode: 'array' });
    await client.query('commit');
    return JSON.stringify(rows.map(([total, , id]) => [total, id]));
  } finally {
    client.release();
  }
}

/** What is compared must do the same. */
async function sameAnswers(...ways: (() => Promise<string>)[]): Promise<void> {
  const answers = new Set<string>();
  for (const way of ways) answers.add(await way());
  const [first = ''] = answers;
  if (answers.size !== 1 || first.length < 400) throw new Error(`different answers: ${[...answers].join(' | ')}`);
}

async function overHttp(ground: Ground, fleet: Fleet, conditions: object): Promise<() => Promise<void>> {
  const client = request(await ground.api(), 1);
  const headers = { authorization: `Bearer ${fleet.partner.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ conditions });
  return async () => {
    const status = await client.send('POST', '/api/v1/filters/preview', headers, body);
    if (status !== 200) throw new Error(`answered ${status}`);
  };
}

/** The statement that a preview makes, taken from its service with a context that only listens. */
async function captured(
  { orgIds, partnerId }: Fleet,
  conditions: object,
): Promise<{ text: string; values: unknown[] }> {
  const modules = await loadModules();
  const contributions = modules.flatMap((loaded) => loaded.contributions.map(({ value }) => value));
  const seen: { text: string; values: unknown[] }[] = [];
  const listening = {
    scope: { kind: 'partner', partnerId, orgIds, siteIds: null, groupIds: null },
    contributionsWithin: (slot: string) =>
      contributions.flatMap(({ slot: named, value }) => ((named as string) === slot ? [{ value, orgIds: null }] : [])),
    sql: async (text: string, values: unknown[] = []) => {
      seen.push({ text, values });
      return { rows: [] };
    },
  };
  await evaluate(listening as unknown as Parameters<typeof evaluate>[0], conditions, 10);
  const statement = seen.find(({ text }) => text.includes('from devices d'));
  if (!statement) throw new Error('the preview made no statement');
  return statement;
}
