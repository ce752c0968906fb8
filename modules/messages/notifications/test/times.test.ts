/** Quiet hours and digests go by the clock where the user is, also over midnight and on the days when clocks change. */
import test from 'ava';
import { sharedPlatform } from '#test';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const quietEnd = async (start: string, end: string, timezone: string, at: string): Promise<string | null> => {
  const [row] = await platform.sql<{ until: Date | null }>('select notification_quiet_end($1, $2) as until', [
    JSON.stringify({ start, end, timezone }),
    at,
  ]);
  return row?.until?.toISOString() ?? null;
};
const slot = async (every: string, timezone: string, at: string) => {
  const [row] = await platform.sql<{ slot: Date }>('select notification_digest_slot($1, $2) as slot', [
    JSON.stringify({ every, timezone }),
    at,
  ]);
  return row?.slot.toISOString();
};

test('quiet hours within a day', async (t) => {
  t.is(await quietEnd('12:00', '13:30', 'UTC', '2026-11-21T12:00:00Z'), '2026-11-21T13:30:00.000Z');
  t.is(await quietEnd('12:00', '13:30', 'UTC', '2026-11-21T13:30:00Z'), null);
  t.is(await quietEnd('12:00', '13:30', 'UTC', '2026-11-21T11:59:59Z'), null);
  t.is(await quietEnd('12:00', '12:00', 'UTC', '2026-11-21T12:00:00Z'), null);
});

test('quiet hours over midnight, in the zone of the user', async (t) => {
  // 23:30 in Vienna, then 02:00 the next morning.
  t.is(await quietEnd('22:00', '07:00', 'Europe/Vienna', '2026-11-21T22:30:00Z'), '2026-11-22T06:00:00.000Z');
  t.is(await quietEnd('22:00', '07:00', 'Europe/Vienna', '2026-11-22T01:00:00Z'), '2026-11-22T06:00:00.000Z');
  t.is(await quietEnd('22:00', '07:00', 'Europe/Vienna', '2026-11-22T06:00:00Z'), null);
  // In the night of 28 to 29 March 2026 clocks went one hour ahead.
  t.is(await quietEnd('22:00', '07:00', 'Europe/Vienna', '2026-03-28T22:00:00Z'), '2026-03-29T05:00:00.000Z');
  t.is(await quietEnd('22:00', '07:00', 'Asia/Kolkata', '2026-11-21T17:00:00Z'), '2026-11-22T01:30:00.000Z');
});

test('a digest goes out at the full hour, or at eight where the user is', async (t) => {
  t.is(await slot('hour', 'UTC', '2026-11-21T14:05:00Z'), '2026-11-21T15:00:00.000Z');
  t.is(await slot('day', 'UTC', '2026-11-21T07:59:00Z'), '2026-11-21T08:00:00.000Z');
  t.is(await slot('day', 'UTC', '2026-11-21T08:00:00Z'), '2026-11-22T08:00:00.000Z');
  t.is(await slot('day', 'Asia/Kolkata', '2026-11-21T02:00:00Z'), '2026-11-21T02:30:00.000Z');
  t.is(await slot('day', 'America/New_York', '2026-11-21T14:00:00Z'), '2026-11-22T13:00:00.000Z');
});
