/** Series: taken in once, rolled up exactly, read back with their gaps, and each tenant's own. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import type { Context } from '../../context/index.ts';
import { openBatches } from '../../database/batches.ts';
import { readSeries } from '../history.ts';
import { recordPoints, type SeriesSource } from '../record.ts';
import { pruneSeries, removeSeries, rollUpSeries } from '../upkeep.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { database } = platform.platform.tasks.work;
const batches = openBatches(database.platform);
const HOUR_MS = 3_600_000;

/** A context of a caller that reaches these organizations, with one connection of the tenants' role. */
async function as<T>(orgIds: string[], run: (ctx: Context) => Promise<T>): Promise<T> {
  const client = await database.app.connect();
  try {
    await client.query(`begin; select set_config('app.org_ids', '{${orgIds.join(',')}}', true)`);
    return await run({
      scope: { kind: 'organization', partnerId: null, orgIds, siteIds: null, groupIds: null },
      sql: (text: string, values: unknown[] = []) => client.query({ text, values }),
      batch: batches.add,
    } as unknown as Context);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

async function arrange() {
  const { orgId } = await tenant(platform);
  const source: SeriesSource = { orgId, kind: 'probe', id: randomUUID() };
  const record = (points: { at: number; value: number }[], by = orgId) =>
    as([by], (ctx) =>
      recordPoints(
        ctx,
        source,
        points.map(({ at, value }) => ({ key: 'load', unit: 'percent', at: new Date(at), value })),
      ),
    );
  const read = (from: number, to: number, points: number, orgIds = [orgId]) =>
    as(orgIds, (ctx) =>
      readSeries(ctx, [{ kind: 'probe', id: source.id, key: 'load' }], {
        from: new Date(from),
        to: new Date(to),
        points,
      }),
    );
  return { orgId, source, record, read };
}
const hourBefore = (hours: number) => Math.floor(Date.now() / HOUR_MS) * HOUR_MS - hours * HOUR_MS;
const minutesFrom = (start: number, count: number, value: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => ({ at: start + n * 60_000, value: value(n) }));

test.serial(
  'an hour with a gap is read with null for the gap, and the same before and after the roll-up',
  async (t) => {
    const { record, read } = await arrange();
    const start = hourBefore(2);
    await record([...minutesFrom(start, 10, (n) => n), ...minutesFrom(start + 20 * 60_000, 5, () => 50)]);
    const before = await read(start, start + HOUR_MS, 12);
    t.is(before.stepSeconds, 300);
    t.deepEqual(
      before.series[0]?.points.map((point) => point && [point.samples, point.avg, point.min, point.max]),
      [[5, 2, 0, 4], [5, 7, 5, 9], null, null, [5, 50, 50, 50], ...Array(7).fill(null)],
    );
    t.is(before.series[0]?.unit, 'percent');
    await rollUpSeries(database.platform);
    t.deepEqual(await read(start, start + HOUR_MS, 12), before);
    t.deepEqual((await read(start, start + HOUR_MS, 1)).series[0]?.points, [
      { at: new Date(start), samples: 15, avg: (45 + 250) / 15, min: 0, max: 50 },
    ]);
  },
);

test.serial('a point that comes twice counts once, also within one call', async (t) => {
  const { record, read } = await arrange();
  const start = hourBefore(1);
  const points = minutesFrom(start, 5, () => 1);
  await Promise.all([record([...points, ...points]), record(points)]);
  await record(points);
  await rollUpSeries(database.platform);
  t.is((await read(start, start + HOUR_MS, 12)).series[0]?.points[0]?.samples, 5);
});

test.serial(
  'points that come after their hour was rolled up are in the roll-ups after the next run, which may be repeated',
  async (t) => {
    const { record, read, source } = await arrange();
    const start = hourBefore(5);
    await record(minutesFrom(start, 10, () => 10));
    await rollUpSeries(database.platform);
    await record(minutesFrom(start + 30 * 60_000, 10, () => 20));
    await rollUpSeries(database.platform);
    await rollUpSeries(database.platform);
    const hours = await platform.sql<{ samples: number; total: number }>(
      `select samples, total from series_hours where series_id in (select id from series where source_id = $1)`,
      [source.id],
    );
    t.deepEqual(hours, [{ samples: 20, total: 300 }]);
    t.is((await read(start, start + HOUR_MS, 1)).series[0]?.points[0]?.avg, 15);
    t.deepEqual(await platform.sql('select 1 from series_late'), []);
  },
);

test.serial('a roll-up whose process dies in the middle leaves nothing, and the next one does its work', async (t) => {
  const { record, source } = await arrange();
  await rollUpSeries(database.platform);
  await record(minutesFrom(hourBefore(3), 10, () => 1));
  const rolled = () =>
    platform.sql(`select 1 from series_5m where series_id in (select id from series where source_id = $1)`, [
      source.id,
    ]);
  // The server ends the connection as the end of a process would, at the first statement over hours.
  const dying = {
    connect: async () => {
      const client = await database.platform.connect();
      const query = client.query.bind(client);
      const hook = async (first: unknown) => {
        const text = typeof first === 'string' ? first : (first as { text: string }).text;
        if (text.includes('insert into series_hours')) {
          await platform.sql('select pg_terminate_backend($1)', [pid]);
        }
        return query(first as string);
      };
      client.on('error', () => undefined);
      const pid = (await query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
      return { query: hook, release: (error?: Error) => client.release(error) };
    },
  };
  await t.throwsAsync(rollUpSeries(dying as unknown as typeof database.platform));
  t.is((await rolled()).length, 0);
  await rollUpSeries(database.platform);
  t.is((await rolled()).length, 2);
});

test.serial('another tenant reads nothing of a series and writes nothing into it', async (t) => {
  const { record, read } = await arrange();
  const other = await tenant(platform);
  const start = hourBefore(1);
  await record(minutesFrom(start, 5, () => 1));
  const seen = await read(start, start + HOUR_MS, 12, [other.orgId]);
  t.deepEqual(seen.series[0]?.points, Array(12).fill(null));
  await t.throwsAsync(
    record(
      minutesFrom(start, 5, () => 1),
      other.orgId,
    ),
    { message: /not found/i },
  );
});

test.serial('bad points and ranges are errors that name the place', async (t) => {
  const { record, read } = await arrange();
  const now = Date.now();
  const pathOf = async (promise: Promise<unknown>) =>
    ((await t.throwsAsync(promise)) as Error & { details?: { path: string }[] }).details?.[0]?.path;
  t.is(
    await pathOf(
      record([
        { at: now, value: 1 },
        { at: now, value: Number.NaN },
      ]),
    ),
    'points[1].value',
  );
  t.is(await pathOf(record([{ at: now - 25 * HOUR_MS, value: 1 }])), 'points[0].at');
  t.is(await pathOf(record([{ at: Number.NaN, value: 1 }])), 'points[0].at');
  t.is(await pathOf(record([{ at: now + 2 * HOUR_MS, value: 1 }])), 'points[0].at');
  t.is(await pathOf(read(now, now, 10)), 'from');
  t.is(await pathOf(read(now - HOUR_MS, now, 0)), 'points');
  t.is(await pathOf(read(now - 3000 * 24 * HOUR_MS, now, 2)), 'points');
});

test.serial('a removed source is gone from every table, and old days are dropped', async (t) => {
  const { record, source } = await arrange();
  await record(minutesFrom(hourBefore(4), 30, () => 1));
  await rollUpSeries(database.platform);
  const ctx = { sql: (text: string, values: unknown[]) => database.platform.query(text, values) } as unknown as Context;
  let calls = 0;
  while ((await removeSeries(ctx, source, 10)) > 0) calls++;
  t.true(calls > 3);
  t.deepEqual(await platform.sql('select 1 from series where source_id = $1', [source.id]), []);
  await platform.sql(
    `create table series_points_y2020m01d01 partition of series_points for values from ('2020-01-01T00:00Z') to ('2020-01-02T00:00Z')`,
  );
  await pruneSeries(database.platform);
  t.deepEqual(await platform.sql(`select to_regclass('series_points_y2020m01d01') as old`), [{ old: null }]);
});
