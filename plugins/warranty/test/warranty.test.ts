/** Warranties by serial number, with a server in memory. */
import { createHarness, runCollectorContract } from '@quartermaster/plugin-testkit';
import test from 'ava';
import plugin from '../index.js';
import manifest from '../plugin.json' with { type: 'json' };

const FIELDS = [
  { key: 'warranty_end', type: 'date' as const },
  { key: 'warranty_level', type: 'text' as const },
];
const DAY = 86_400_000;
const devices = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ hostname: `pc-${index}`, serialNumber: `SN ${index}` }));

function open(count: number, config: object = {}, customFields: { key: string; type: 'date' | 'text' }[] = FIELDS) {
  const harness = createHarness({
    ...{ manifest, plugin, customFields, devices: devices(count) },
    config: { baseUrl: 'https://warranty.example/v1/', ...config },
  });
  harness.http.on('GET https://warranty.example/*', { body: { endsAt: '2027-03-01T00:00:00Z', level: 'on site' } });
  const known = () => harness.devices.filter(({ customFields: { warranty_end: end } }) => end === '2027-03-01').length;
  return { harness, known, asked: () => harness.http.requests.length };
}

test('the end of the warranty of each serial number is written into the fields', async (t) => {
  const { harness } = open(1, { apiKey: 'secret' });
  await harness.run('warranty');
  t.deepEqual(harness.devices[0]?.customFields, { warranty_end: '2027-03-01', warranty_level: 'on site' });
  const [request] = harness.http.requests;
  t.is(request?.url.href, 'https://warranty.example/v1/warranties/SN%200');
  t.is(request?.headers['x-api-key'], 'secret');
  t.deepEqual(
    harness.assertNoUndeclaredCapabilities().filter((one) => !one.includes('customFields:read')),
    [],
  );
});

test('each is asked for once in a while only, however often it runs', async (t) => {
  const { harness, asked } = open(3, { cacheDays: 2 });
  for (let n = 0; n < 4; n += 1) await harness.run('warranty');
  t.is(asked(), 3);
  await harness.advance(3 * DAY);
  await harness.run('warranty');
  t.is(asked(), 6);
});

test('a run asks for so many and the next goes on, until all are known', async (t) => {
  const { harness, asked, known } = open(230, { lookupsPerRun: 50 });
  for (const total of [50, 100, 150, 200, 230, 230]) {
    await harness.run('warranty');
    t.is(asked(), total);
    t.is(known(), total);
    await harness.advance(3_600_000);
  }
});

test('when the service asks for patience, what was found is written and the rest waits', async (t) => {
  const { harness, known } = open(5);
  let asked = 0;
  harness.http.on('GET https://warranty.example/*', () =>
    ++asked > 2 ? { status: 429 } : { body: { endsAt: '2027-03-01' } },
  );
  await harness.run('warranty');
  t.is(known(), 2);
  t.is(asked, 3);
  harness.http.on('GET https://warranty.example/*', { body: { endsAt: '2027-03-01' } });
  await harness.run('warranty');
  t.is(known(), 5);
});

test('a service that does not answer at all is a failure, so that it is seen', async (t) => {
  const { harness } = open(2);
  harness.http.on('GET https://warranty.example/*', { status: 503 });
  t.like(await t.throwsAsync(harness.run('warranty')), { code: 'RETRYABLE' });
});

test('a serial number that the service does not know is remembered too, and clears what was there', async (t) => {
  const { harness, asked } = open(1);
  harness.http.on('GET https://warranty.example/*', { status: 404 });
  await harness.run('warranty');
  await harness.run('warranty');
  t.is(asked(), 1);
  t.deepEqual(harness.devices[0]?.customFields, { warranty_end: null, warranty_level: null });
});

test('a serial number that the service cannot take keeps no others waiting, and is asked for again the next day', async (t) => {
  const { harness, asked, known } = open(4, { lookupsPerRun: 2 });
  const good = { body: { endsAt: '2027-03-01' } };
  harness.http.on('GET https://warranty.example/*', ({ url }) =>
    /SN%20[01]$/.test(url.href) ? { status: 422 } : good,
  );
  t.like(await t.throwsAsync(harness.run('warranty')), { code: 'PERMANENT' }, 'nothing but faults is a failure');
  await harness.run('warranty');
  t.is(known(), 2);
  t.is(asked(), 4);
  harness.http.on('GET https://warranty.example/*', good);
  await harness.run('warranty');
  t.is(asked(), 4);
  await harness.advance(DAY);
  await harness.run('warranty');
  t.is(known(), 4);
});

test('a key that is refused stops the run, and is no fault of the serial numbers', async (t) => {
  const { harness, asked, known } = open(3);
  harness.http.on('GET https://warranty.example/*', { status: 401 });
  t.like(await t.throwsAsync(harness.run('warranty')), { code: 'RETRYABLE' });
  t.is(asked(), 1);
  harness.http.on('GET https://warranty.example/*', { body: { endsAt: '2027-03-01' } });
  await harness.run('warranty');
  t.is(known(), 3);
});

test('devices without a serial number are passed over', async (t) => {
  const harness = createHarness({
    ...{ manifest, plugin, customFields: FIELDS, devices: [{}, { serialNumber: '  ' }] },
    config: { baseUrl: 'https://warranty.example' },
  });
  await harness.run('warranty');
  t.is(harness.http.requests.length, 0);
});

test('it is not enabled before the fields are there', async (t) => {
  const { harness } = open(1, {}, [{ key: 'warranty_end', type: 'text' }]);
  await harness.disable();
  t.like(await t.throwsAsync(harness.enable()), { message: 'Make a custom field warranty_end of the type date first' });
  const complete = open(1).harness;
  await complete.disable();
  await t.notThrowsAsync(complete.enable());
});

void runCollectorContract({
  ...{ manifest, plugin, customFields: FIELDS, devices: devices(3), key: 'warranty' },
  config: { baseUrl: 'https://warranty.example', apiKey: 'very-secret', cacheDays: 1 },
  works: (http) => http.on('GET https://warranty.example/*', { body: { endsAt: '2027-03-01', level: 'on site' } }),
  test: (title, run) => test(title, (t) => t.notThrowsAsync(run)),
});
