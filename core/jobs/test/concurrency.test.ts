/** What may start at once, in which turn, and how attempts are counted: without any database. */
import test from 'ava';
import { ConcurrencyGate, Deferral, flagsOf } from '../concurrency.ts';
import { momentsAround } from '../cron-times.ts';
import { redactMessage, subjectOf } from '../history.ts';
import { Lanes, TURN } from '../lanes.ts';
import { MinuteStats, percentile } from '../stats.ts';

test('a tenant at its limit gets no more until one of its jobs ends; others are not held up', async (t) => {
  const gate = new ConcurrencyGate({ tenant: 2, strict: true, tasks: {} });
  const leave = gate.enter('a/run', 'one');
  gate.enter('a/run', 'one');
  t.throws(() => gate.enter('a/run', 'one'), { instanceOf: Deferral });
  gate.enter('a/run', 'two');
  gate.enter('a/run', null);
  t.deepEqual(await gate.forbidden(), ['org:one']);
  t.true(flagsOf('a/run', 'one').includes('org:one'));
  leave();
  t.is(await gate.forbidden(), null);
  gate.enter('a/run', 'one');
});

test('unless the limit was set, short tasks pass it once they are known to be short', (t) => {
  const gate = new ConcurrencyGate({ tenant: 1, strict: false, tasks: {} });
  const first = gate.enter('a/short', 'one');
  t.throws(() => gate.enter('a/short', 'one'), { instanceOf: Deferral }, 'nothing is known of it yet');
  first();
  for (let n = 0; n < 3; n++) gate.enter('a/short', 'one')();
  gate.enter('a/short', 'one');
  gate.enter('a/short', 'one');
  gate.enter('a/long', 'one');
  t.throws(() => gate.enter('a/long', 'one'), { instanceOf: Deferral });
});

test('a task at its limit and a paused one are left out, whoever they belong to', async (t) => {
  const gate = new ConcurrencyGate({ tenant: 9, strict: true, tasks: { 'a/rare': 1 } });
  gate.enter('a/rare', 'one');
  t.throws(() => gate.enter('a/rare', 'two'), { instanceOf: Deferral });
  gate.pause(['b/run']);
  const refused = t.throws(() => gate.enter('b/run', null), { instanceOf: Deferral });
  t.is(refused?.seconds, 60);
  t.deepEqual((await gate.forbidden())?.sort(), ['task:a/rare', 'task:b/run']);
  gate.pause([]);
  t.deepEqual(await gate.forbidden(), ['task:a/rare']);
});

test('a fetch with flags that walked far and found nothing makes the next ones wait', async (t) => {
  const gate = new ConcurrencyGate({ tenant: 1, strict: true, tasks: {} });
  gate.enter('a/run', 'one');
  gate.foundNothing(25);
  const begin = performance.now();
  await gate.forbidden();
  const waited = performance.now() - begin;
  t.true(waited > 60, String(waited));
});

test('the more of a tenant waits, the later its turn; other tenants begin in front', (t) => {
  const lanes = new Lanes(async () => ({ ageMs: 0, waiting: new Map() }));
  const turns = Array.from({ length: TURN * 3 }, () => lanes.next('flood'));
  t.deepEqual([...new Set(turns)], [0, 1, 2]);
  t.is(turns.filter((turn) => turn === 0).length, TURN);
  t.is(lanes.next('other'), 0);
});

test('what other processes added counts once a snapshot has seen it, and no longer than it waits', async (t) => {
  let waiting = new Map([['flood', TURN * 10]]);
  const lanes = new Lanes(async () => ({ ageMs: 0, waiting }));
  lanes.next('flood');
  await new Promise((resolve) => setImmediate(resolve));
  t.true(lanes.next('flood') >= 10);
  waiting = new Map();
  t.is(lanes.next('other'), 0);
});

test('minutes count every attempt, and percentiles are bounds that so many lie under', (t) => {
  const stats = new MinuteStats();
  const at = new Date('2026-01-01T00:00:30Z');
  for (let n = 1; n <= 100; n++) {
    const nth = stats.add('a/run', n % 10 === 0 ? 'error' : 'success', at, { durationMs: n, waitMs: 3 });
    t.is(nth, n);
  }
  const [row] = stats.take();
  t.like(row, { minute: '2026-01-01T00:00:00.000Z', started: 100, succeeded: 90, errored: 10, durationMax: 100 });
  t.is(percentile(row?.durations ?? [], 0.5), 50);
  t.is(percentile(row?.durations ?? [], 0.95), 100);
  t.is(percentile(row?.waits ?? [], 0.95), 5);
  t.is(percentile([], 0.5), null);
  t.deepEqual(stats.take(), [], 'nothing changed since');
  stats.add('a/run', 'success', at, { durationMs: 1, waitMs: 1 });
  t.is(stats.take()[0]?.started, 101, 'the total of the minute so far: written twice it does no harm');
});

test('messages lose what looks like a credential', (t) => {
  const message = redactMessage(
    'smtp://me:pa55word@host refused; Authorization: Bearer abcdefghijklmnop; password="hunter2"; svc_0123456789abcdef01',
  );
  t.notRegex(message, /pa55word|abcdefghijklmnop|hunter2|0123456789abcdef/);
  t.regex(message, /smtp:\/\/me:\[REDACTED\]@host refused/);
});

test('the subject of a job is the first id in its data, and nothing else of them', (t) => {
  t.deepEqual(subjectOf({ reason: 'x', deviceId: 'abc', orgId: 'def' }), { type: 'device', id: 'abc' });
  t.is(subjectOf({ text: 'secret' }), null);
  t.is(subjectOf(null), null);
});

test('schedules know the moment before and after, also far ones', (t) => {
  const now = new Date('2026-03-01T10:07:30Z');
  const iso = (date: Date | null) => date?.toISOString();
  const each = momentsAround({ cron: '*/5 * * * *' }, now);
  t.deepEqual([iso(each.last), iso(each.next)], ['2026-03-01T10:05:00.000Z', '2026-03-01T10:10:00.000Z']);
  const often = momentsAround({ every: 20 }, now);
  t.deepEqual([iso(often.last), iso(often.next)], ['2026-03-01T10:07:20.000Z', '2026-03-01T10:07:40.000Z']);
  t.is(iso(momentsAround({ cron: '0 3 29 2 *' }, now).next), '2028-02-29T03:00:00.000Z');
  t.deepEqual(momentsAround({ cron: '0 0 31 2 *' }, now), { last: null, next: null });
});
