/** The metrics of a device over time, and their roll-ups. */
import test from 'ava';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { enroll, refusalOf, runJob } from '../../devices/test/arrange.ts';

interface Point {
  at: string;
  samples: number;
  cpuPercent: number | null;
  cpuPercentMax: number | null;
  ramPercent: number | null;
}
interface History {
  data: { from: string; to: string; resolution: string; points: Point[] };
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const device = await enroll(platform, place);
  const { deviceId: id, orgId } = device;
  const read = (query: Record<string, string>, token = place.partner.token) =>
    platform.call<History & ErrorBody>('GET', `/devices/${id}/metrics?${new URLSearchParams(query)}`, { token });
  /** Samples of one minute each, the newest `ago` minutes old. */
  const sample = (ago: number, count: number, cpu: string) =>
    platform.sql(
      `insert into device_metrics (device_id, ts, org_id, cpu_percent, ram_percent)
       select $1, date_trunc('minute', now()) - n * interval '1 minute', $2, ${cpu}, null
       from generate_series($3::int, $3::int + $4::int - 1) n`,
      [id, orgId, ago, count],
    );
  return { ...place, device, id, orgId, read, sample, token: place.partner.token };
}
const hourStart = (ms: number) => Math.floor(ms / 3_600_000) * 3_600_000;

test.serial('a day is shown in points of five minutes from the samples, with averages and peaks', async (t) => {
  const { read, sample } = await arrange();
  await sample(0, 30, 'n % 2 * 100');
  const { body } = await read({});
  t.is(body.data.resolution, '5m');
  t.is(
    body.data.points.reduce((sum, { samples }) => sum + samples, 0),
    30,
  );
  const whole = body.data.points.filter(({ samples }) => samples === 5);
  t.true(whole.length >= 4);
  for (const { cpuPercent, cpuPercentMax, ramPercent } of whole) {
    t.true([40, 60].includes(Math.round(cpuPercent ?? 0)));
    t.deepEqual([cpuPercentMax, ramPercent], [100, null]);
  }
});

test.serial(
  'thirty days come from the roll-ups, also when the samples are deleted, and the current hour from the samples',
  async (t) => {
    const { read, sample, id, orgId } = await arrange();
    const hour = hourStart(Date.now());
    await sample(0, 300, '50');
    await platform.sql(
      `update device_metrics_progress set rolled_until = date_trunc('hour', now()) - interval '6 hours'`,
    );
    await runJob(platform, 'device-metrics/roll-up-metrics');
    // Earlier than the oldest samples.
    await platform.sql(
      `insert into device_metrics_hourly (device_id, ts, org_id, samples, cpu_percent, cpu_percent_max)
     select $1, date_trunc('hour', now()) - n * interval '1 hour', $2, 60, 10, 20 from generate_series(6, 24 * 16) n
     on conflict do nothing`,
      [id, orgId],
    );
    const from = new Date(hour - 20 * 86_400_000).toISOString();
    const before = await read({ from });
    t.is(before.body.data.resolution, '1h');
    t.like(before.body.data.points[0], { samples: 60, cpuPercent: 10, cpuPercentMax: 20 });
    t.true(before.body.data.points.length > 24 * 15);
    const running = before.body.data.points.find(({ at }) => Date.parse(at) === hour);
    t.is(running?.cpuPercent, 50);
    await platform.sql('delete from device_metrics where device_id = $1 and ts < $2', [id, new Date(hour)]);
    t.deepEqual((await read({ from })).body.data.points, before.body.data.points);
  },
);

test.serial('rolling up again changes nothing, includes missed samples, and days weigh their hours', async (t) => {
  const { sample, id } = await arrange();
  const now = Date.now();
  const minutes = Math.floor((now - hourStart(now)) / 60_000);
  // Two whole hours ago: a full one of 10, and a quarter of one of 50.
  await sample(minutes + 1, 60, '10');
  await sample(minutes + 61, 15, '50');
  await platform.sql('delete from device_metrics_progress');
  const rows = () =>
    platform.sql<{ samples: number; cpu_percent: number }>(
      'select samples, cpu_percent from device_metrics_hourly where device_id = $1 order by ts desc',
      [id],
    );
  await runJob(platform, 'device-metrics/roll-up-metrics');
  const once = await rows();
  t.deepEqual(once, [
    { samples: 60, cpu_percent: 10 },
    { samples: 15, cpu_percent: 50 },
  ]);
  await platform.sql(`update device_metrics_progress set rolled_until = rolled_until - interval '5 hours'`);
  await runJob(platform, 'device-metrics/roll-up-metrics');
  await runJob(platform, 'device-metrics/roll-up-metrics');
  t.deepEqual(await rows(), once);
  const days = await platform.sql<{ samples: number; cpu: number }>(
    'select samples, cpu_percent as cpu from device_metrics_days where device_id = $1',
    [id],
  );
  t.is(
    days.reduce((sum, { samples }) => sum + samples, 0),
    75,
  );
  const weighted = days.reduce((sum, { samples, cpu }) => sum + samples * cpu, 0) / 75;
  t.true(Math.abs(weighted - 18) < 0.01, String(weighted));
});

test.serial('a gap of weeks is rolled up in several runs', async (t) => {
  const { sample, id } = await arrange();
  await sample(60, 61, '5');
  await platform.runJobs();
  await platform.sql(`update device_metrics_progress set rolled_until = date_trunc('hour', now()) - interval '6 days'`);
  await platform.sql(
    `select graphile_worker.add_job('device-metrics/roll-up-metrics', '{"orgId":null,"requestId":"t","data":{}}')`,
  );
  await platform.runJobs();
  const rows = await platform.sql<{ n: number }>(
    'select sum(samples)::int as n from device_metrics_hourly where device_id = $1',
    [id],
  );
  t.is(rows[0]?.n, 61);
});

test('invalid ranges, too many points and devices out of reach are errors', async (t) => {
  const { read, viewer } = await arrange();
  const other = await tenant(platform);
  const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  t.deepEqual(refusalOf(await read({ from: at(1), to: at(2) })), [400, 'VALIDATION_ERROR']);
  t.deepEqual(refusalOf(await read({ from: at(30), resolution: '5m' })), [400, 'VALIDATION_ERROR']);
  t.deepEqual(refusalOf(await read({ resolution: '1m' })), [400, 'VALIDATION_ERROR']);
  t.is((await read({ from: at(700) })).body.data.resolution, '1d');
  t.is((await read({}, viewer.token)).status, 200);
  t.deepEqual(refusalOf(await read({}, other.partner.token)), [404, 'NOT_FOUND']);
});

test.serial('old roll-ups are deleted: hours after 180 days, days after two years', async (t) => {
  const { id, orgId } = await arrange();
  await platform.sql(
    `create table device_metrics_hourly_y2020m01d01 partition of device_metrics_hourly
       for values from ('2020-01-01') to ('2020-01-02')`,
  );
  await platform.sql(
    `insert into device_metrics_days (device_id, ts, org_id, samples)
     select $1, now() - n * interval '1 year', $2, 1 from generate_series(1, 3) n`,
    [id, orgId],
  );
  await runJob(platform, 'device-metrics/prune-metrics');
  const [row] = await platform.sql<{ gone: boolean }>(
    `select to_regclass('device_metrics_hourly_y2020m01d01') is null as gone`,
  );
  t.true(row?.gone);
  t.true((await platform.sql('select 1 from device_metrics_days where device_id = $1', [id])).length <= 2);
});

test.serial('days of metrics are created ahead and dropped whole when they are old', async (t) => {
  await platform.sql(`create table device_metrics_y2020m01d01 partition of device_metrics
    for values from ('2020-01-01 00:00+00') to ('2020-01-02 00:00+00')`);
  await runJob(platform, 'device-metrics/prune-metrics');
  const parts = await platform.sql<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'device_metrics'::regclass`,
  );
  // One more when midnight has passed since the tables were created.
  t.true(parts.length === 9 || parts.length === 10, `${parts.length} days`);
  t.false(parts.some(({ name }) => name.includes('2020')));
});
