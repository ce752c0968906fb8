/** Series: taking in against bare COPY, and a month of 20 series against date_bin by hand. */
import { randomUUID } from 'node:crypto';
import type { Context } from '#core';
import { openBatches } from '../../../core/database/batches.ts';
import { openDatabase } from '../../../core/database/pools.ts';
import { readSeries } from '../../../core/series/history.ts';
import { recordPoints } from '../../../core/series/record.ts';
import { rollUpSeries } from '../../../core/series/upkeep.ts';
import { copyRows } from '../copy.ts';
import type { Ground } from '../ground.ts';
import { drive, inTurns, rounded, type Scenario } from '../scenario.ts';

const LANES = 32;
const SOURCES = 320;
const KEYS = 20;
const POINTS_PER_CALL = 200;
const COPIED_ROWS = 100_000;
const MONTH_MS = 30 * 86_400_000;

type Database = ReturnType<typeof openDatabase>;

async function takeIn(ground: Ground, database: Database, orgId: string) {
  const batches = openBatches(database.platform);
  const ctx = { scope: { orgIds: [orgId] }, batch: batches.add } as unknown as Context;
  const sources = Array.from({ length: SOURCES }, () => ({ orgId, kind: 'bench', id: randomUUID() }));
  const begin = Date.now() - 60_000;
  const rounds = new Array<number>(LANES).fill(0);
  const step = async (lane: number) => {
    const round = rounds[lane] ?? 0;
    rounds[lane] = round + 1;
    const source = sources[(lane + round * LANES) % SOURCES] ?? sources[0];
    if (!source) return;
    const base = begin + Math.floor(round / (SOURCES / LANES)) * 20;
    const points = Array.from({ length: POINTS_PER_CALL }, (_, n) => ({
      key: `key-${n % KEYS}`,
      at: new Date(base + Math.floor(n / KEYS)),
      value: n * 1.5,
    }));
    await recordPoints(ctx, source, points);
  };
  const ours = async () => (await drive(ground.seconds, LANES, step)).perSecond * POINTS_PER_CALL;
  let copied = 0;
  const bare = () => {
    copied += 1;
    const rows = Array.from({ length: COPIED_ROWS }, (_, n) => {
      const at = new Date(begin + Math.floor(n / 6400) * 10).toISOString();
      return `${1_000_000 * copied + (n % 6400)}\t${at}\t${orgId}\t${(n % 100) * 1.5}`;
    });
    return copyRows(ground.databaseUrl, 'series_points (series_id, at, org_id, value)', rows);
  };
  const figures = await inTurns(3, ours, bare);
  const rolledAt = performance.now();
  await rollUpSeries(database.platform);
  return {
    'points a second': figures.ours,
    'bare COPY, points a second': figures.bare,
    'ratio to COPY': figures.ratio,
    'roll-up of all of them, ms': rounded(performance.now() - rolledAt),
  };
}

/** Hours of 400 days for 1,000 series would be the real size; a month of 1,000 is what a reading of 20 has to pick from. */
async function arrangeMonth(ground: Ground, orgId: string): Promise<string> {
  const source = randomUUID();
  await ground.sql(
    `insert into series (org_id, source_kind, source_id, key) select $1, 'bench', $2, 'month-' || n from generate_series(0, 999) n`,
    [orgId, source],
  );
  for (let day = 2; day <= 32; day++) {
    await ground
      .sql(
        `select format('create table if not exists %I partition of series_hours for values from (%L) to (%L)',
         'series_hours_' || to_char(d, '"y"YYYY"m"MM"d"DD'), d::timestamp at time zone 'utc', (d + 1)::timestamp at time zone 'utc') as text
       from (select (now() at time zone 'utc')::date - $1::integer as d) x`,
        [day],
      )
      .then(async ([row]) => ground.sql((row as { text: string }).text));
  }
  await ground.sql(
    `insert into series_hours (series_id, at, org_id, samples, total, low, high)
     select s.id, date_bin('1 hour', now(), 'epoch') - h * interval '1 hour', s.org_id, 60, 60 * random() * 100, 0, 100
     from generate_series(1, 24 * 31) h, series s where s.source_id = $1 on conflict do nothing`,
    [source],
  );
  await ground.sql(
    `insert into series_progress (rolled_until) values (date_bin('5 minutes', now(), 'epoch'))
     on conflict (only_row) do update set rolled_until = excluded.rolled_until`,
  );
  await ground.sql('vacuum analyze series_hours');
  await ground.sql('vacuum analyze series');
  return source;
}

async function read(ground: Ground, database: Database, orgId: string) {
  const source = await arrangeMonth(ground, orgId);
  const keys = Array.from({ length: 20 }, (_, n) => ({ kind: 'bench', id: source, key: `month-${n * 50}` }));
  const ids = await ground.sql<{ id: string }>('select id from series where source_id = $1 and key = any($2)', [
    source,
    keys.map(({ key }) => key),
  ]);
  const to = new Date();
  const from = new Date(to.getTime() - MONTH_MS);
  const client = await database.app.connect();
  await client.query(`begin; select set_config('app.org_ids', '{${orgId}}', true)`);
  const sql = (text: string, values: unknown[], name: string) => client.query({ text, values, name });
  const ctx = { scope: { orgIds: [orgId] }, sql } as unknown as Context;
  const times: number[] = [];
  const twenty = async (step: () => Promise<unknown>) => {
    const begin = performance.now();
    for (let n = 0; n < 20; n++) {
      const before = performance.now();
      await step();
      times.push(performance.now() - before);
    }
    return 20_000 / (performance.now() - begin);
  };
  const ours = async () => {
    times.length = 0;
    return twenty(() => readSeries(ctx, keys, { from, to, points: 500 }));
  };
  const owner = await database.platform.connect();
  const byHand = () =>
    owner.query({
      name: 'by-hand',
      text: `select series_id, date_bin('2 hours', at, 'epoch') as t, sum(samples)::float8 as samples, sum(total) / sum(samples) as avg,
          min(low) as min, max(high) as max
        from series_hours where series_id = any($1::bigint[]) and at >= $2 and at < $3 group by 1, 2 order by 1, 2`,
      values: [ids.map(({ id }) => id), from, to],
    });
  let slowest = 0;
  const figures = await inTurns(
    5,
    async () => {
      const perSecond = await ours();
      slowest = Math.max(slowest, times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);
      return perSecond;
    },
    () => twenty(byHand),
  );
  await client.query('rollback');
  client.release();
  owner.release();
  return {
    'month of 20 series, median ms': rounded(1000 / figures.ours),
    'slowest median of a turn, ms': rounded(slowest),
    'date_bin by hand, median ms': rounded(1000 / figures.bare),
    'ratio of readings a second to SQL by hand': figures.ratio,
  };
}

export const scenario: Scenario = {
  title: `points of ${SOURCES} sources in calls of ${POINTS_PER_CALL} by ${LANES} callers, and a month of 20 series as 500 points`,
  async run(ground) {
    const { orgId } = await ground.tenant();
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 4, onError: () => undefined });
    try {
      return { ...(await takeIn(ground, database, orgId)), ...(await read(ground, database, orgId)) };
    } finally {
      await database.close();
    }
  },
};
