/** The device report, with a server in memory. */
import { createHarness, runReportTypeContract } from '@quartermaster/plugin-testkit';
import test from 'ava';
import plugin from '../index.js';
import manifest from '../plugin.json' with { type: 'json' };

const NOW = '2026-11-21T12:00:00.000Z';
const DEVICES = [
  { hostname: 'pc-1', serialNumber: 'A1', manufacturer: 'Acme', model: 'One', enrolledAt: '2020-11-21T12:00:00.000Z' },
  {
    hostname: 'srv-1',
    osType: 'linux',
    enrolledAt: '2026-10-01T00:00:00.000Z',
    lastSeenAt: '2026-11-21T11:00:00.000Z',
  },
  { hostname: '=cmd|calc', displayName: '=2+2, "x"', tags: ['till', 'front'], lastSeenAt: '2026-11-20T11:00:00.000Z' },
];
const open = (devices: object[] = DEVICES) => createHarness({ manifest, plugin, now: NOW, devices });
interface File {
  fileName: string;
  type: string;
  content: string;
}
const make = (harness: ReturnType<typeof open>, input: object) => harness.invoke('make', { input }) as Promise<File>;

test('the rows have each device with its age', async (t) => {
  const harness = open();
  const { columns, rows } = (await harness.provider('reportType', 'devices', 'build', { input: {} })) as {
    columns: { key: string }[];
    rows: Record<string, unknown>[];
  };
  t.is(columns[0]?.key, 'name');
  t.like(rows[0], { name: 'pc-1', model: 'Acme One', serialNumber: 'A1', enrolledAt: '2020-11-21', ageYears: 5.9 });
  t.is(rows.length, 3);
  const old = (await harness.provider('reportType', 'devices', 'build', { input: { olderThanYears: 5 } })) as {
    rows: unknown[];
  };
  t.is(old.rows.length, 1);
});

test('a CSV file quotes what must be, and holds no formulas', async (t) => {
  const { fileName, type, content } = await make(open(), { format: 'csv' });
  t.is(fileName, 'devices-2026-11-21.csv');
  t.is(type, 'text/csv');
  const lines = content.split('\r\n');
  t.is(lines[0], 'Device,System,Version,Model,Serial number,Enrolled,Years since then,Last seen,Tags');
  t.true(lines[3]?.startsWith(`"'=2+2, ""x""",windows`));
  t.true(lines[3]?.endsWith('"till, front"'));
});

test('a page has no markup of devices in it, and says what they add up to', async (t) => {
  const harness = open([{ hostname: '<script>alert(1)</script>' }, ...DEVICES]);
  const { content } = await make(harness, { format: 'html' });
  t.false(content.includes('<script>'));
  t.true(content.includes('&lt;script&gt;'));
  t.regex(content, /4 devices/);
  t.regex(content, /Not heard of for 30 days: 2\./);
});

test('a month is told once, with its figures, however often its occurrence comes, and the next is compared with it', async (t) => {
  const harness = open();
  await harness.run('monthly', { times: 2 });
  t.is(harness.emitted.length, 1);
  t.like(harness.emitted[0], {
    name: 'device_report.month',
    data: { month: '2026-11', devices: 3, byOs: { windows: 2, linux: 1 }, silent: 1 },
  });
  await harness.advance(20 * 86_400_000);
  const { content } = await make(harness, { format: 'html' });
  t.regex(content, /3 devices \(0 since the last month\)/);
  t.deepEqual(
    harness.assertNoUndeclaredCapabilities().filter((one) => !one.includes('reports:register')),
    ['the handler build'],
  );
});

test('three thousand devices fit into one answer, and what is more is said to be missing', async (t) => {
  const long = 'x'.repeat(60);
  const harness = open(Array.from({ length: 3_050 }, (_, n) => ({ hostname: `${long}-${n}`, serialNumber: long })));
  const { content } = await make(harness, { format: 'csv' });
  t.is(content.split('\r\n').length, 3_002);
  t.true(harness.logs.some(({ message }) => message === 'The report ends after 3000 devices'));
  const html = await make(harness, { format: 'html' });
  t.true(Buffer.byteLength(JSON.stringify(html)) < 1_048_576);
});

void runReportTypeContract({
  ...{ manifest, plugin, now: NOW, devices: DEVICES, key: 'devices', input: { olderThanYears: 0 } },
  test: (title, run) => test(title, (t) => t.notThrowsAsync(run)),
});
