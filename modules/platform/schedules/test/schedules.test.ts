/** Schedules through the queue: each occurrence once, whatever happens to workers. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { runUnitOfWork } from '#core/work';
import { startTestPlatform, switchModule, type Tenant, tenant } from '#test';
import { type Context, EVERYWHERE, NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';
import type { Occurrence, Schedule } from '../models/schedule.ts';
import { handOutKind } from '../services/due.ts';
import type { ScheduledKind } from '../slots/kind.ts';

const platform = await startTestPlatform({ PLUGINS_ALLOW_UNSIGNED: 'true' });
test.after.always(() => platform.stop());
const { work, log } = platform.platform.tasks;

const asPlatform = <T>(run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);
const asTenant = <T>({ orgId, partnerId }: Pick<Tenant, 'orgId' | 'partnerId'>, run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(
    work,
    { actor: NOBODY, scope: organizationScope(orgId, partnerId), requestId: 'test', log, role: 'app' },
    run,
  );

/** Hands out with a kind of our own, as the job does for those of modules. */
async function handOut(kind: Partial<ScheduledKind> & { kind: string }): Promise<Occurrence[]> {
  const got: Occurrence[] = [];
  const whole: ScheduledKind = { due: async (_ctx, some) => void got.push(...some), ...kind };
  await asPlatform((ctx) => handOutKind(ctx, whole));
  return got;
}
const kindOf = () => `plugins.test-${randomUUID().slice(0, 8)}`;
const daily = (kind: string, more: Partial<Schedule> = {}): Schedule => ({
  ...{ kind, ownerId: randomUUID(), recurrence: { frequency: 'daily', time: '09:00' }, zones: ['Europe/Berlin'] },
  catchUp: 'none',
  ...more,
});
const set = (at: Tenant, schedule: Schedule) =>
  asTenant(at, (ctx) => ctx.use('schedules').setSchedule({ orgId: at.orgId }, schedule));
/** As if the time had come so long ago. */
const makeDue = (kind: string, minutes = 1) =>
  platform.sql(
    `update schedules set slot = date_trunc('minute', now()) - make_interval(mins => $2), run_at = now() - make_interval(mins => $2)
     where kind = $1`,
    [kind, minutes],
  );
const rowsOf = (kind: string) =>
  platform.sql<{ zone: string; slot: Date | null; run_at: Date | null; last_slot: Date | null; org_id: string }>(
    'select zone, slot, run_at, last_slot, org_id from schedules where kind = $1 order by zone',
    [kind],
  );

test('an occurrence comes once, and the schedule goes on with its next', async (t) => {
  const at = await tenant(platform);
  const kind = kindOf();
  const schedule = daily(kind);
  await set(at, schedule);
  t.deepEqual(await handOut({ kind }), [], 'not before its time');
  await makeDue(kind);
  const [before] = await rowsOf(kind);
  const [one, ...more] = await handOut({ kind });
  t.deepEqual(more, []);
  t.like(one, {
    ownerId: schedule.ownerId,
    name: '',
    zone: 'Europe/Berlin',
    orgId: at.orgId,
    partnerId: null,
    late: false,
  });
  t.deepEqual(one?.slot, before?.slot ?? undefined);
  t.deepEqual(await handOut({ kind }), []);
  const [after] = await rowsOf(kind);
  t.deepEqual(after?.last_slot, before?.slot);
  t.true(Number(after?.slot) > Date.now());
});

test('with several zones it comes round in each of them, and zones that are not named any more go', async (t) => {
  const at = await tenant(platform);
  const kind = kindOf();
  const schedule = daily(kind, { zones: ['Asia/Tokyo', 'Europe/Berlin'] });
  await set(at, schedule);
  const [tokyo, berlin] = await rowsOf(kind);
  t.is((Number(berlin?.slot) - Number(tokyo?.slot) + 48 * 3_600_000) % 3_600_000, 0);
  t.notDeepEqual(tokyo?.slot, berlin?.slot);
  await makeDue(kind);
  t.deepEqual((await handOut({ kind })).map(({ zone }) => zone).sort(), ['Asia/Tokyo', 'Europe/Berlin']);
  await set(at, { ...schedule, zones: ['Europe/Berlin'] });
  t.deepEqual(
    (await rowsOf(kind)).map(({ zone }) => zone),
    ['Europe/Berlin'],
  );
});

test('what was missed is left out or made up for by one, as the schedule says', async (t) => {
  const at = await tenant(platform);
  const [none, once] = [kindOf(), kindOf()];
  await set(at, daily(none));
  await set(at, daily(once, { catchUp: 'once' }));
  for (const kind of [none, once]) await makeDue(kind, 3 * 24 * 60);
  t.deepEqual(await handOut({ kind: none }), []);
  const made = await handOut({ kind: once });
  t.deepEqual(
    made.map(({ late }) => late),
    [true],
  );
  for (const kind of [none, once]) t.true(Number((await rowsOf(kind))[0]?.slot) > Date.now(), 'both go on');
});

test('a changed schedule goes on from now; one set again as it was keeps what is due', async (t) => {
  const at = await tenant(platform);
  const kind = kindOf();
  const schedule = daily(kind, { catchUp: 'once' });
  await set(at, schedule);
  await makeDue(kind, 60);
  await set(at, schedule);
  t.true(Number((await rowsOf(kind))[0]?.slot) < Date.now());
  await set(at, { ...schedule, recurrence: { frequency: 'daily', time: '10:00' } });
  t.deepEqual(await handOut({ kind }), [], 'the past does not come any more');
  await asTenant(at, (ctx) => ctx.use('schedules').removeSchedules({ kind, ownerId: schedule.ownerId }));
  t.deepEqual(await rowsOf(kind), []);
});

test('begin and end bound it, and after its last occurrence it rests', async (t) => {
  const at = await tenant(platform);
  const [later, over] = [kindOf(), kindOf()];
  const startsAt = new Date(Date.now() + 40 * 86_400_000);
  await set(at, daily(later, { startsAt }));
  t.true(Number((await rowsOf(later))[0]?.slot) >= startsAt.getTime());
  await set(at, daily(over, { endsAt: new Date(Date.now() + 60_000) }));
  await makeDue(over);
  t.is((await handOut({ kind: over })).length, 1);
  t.like((await rowsOf(over))[0], { slot: null, run_at: null });
});

test('jitter moves the moment at most so far, and never the occurrence', async (t) => {
  const at = await tenant(platform);
  const kind = kindOf();
  for (let n = 0; n < 20; n++) await set(at, daily(kind, { jitterSeconds: 600 }));
  const rows = await rowsOf(kind);
  const delays = rows.map(({ slot, run_at }) => (Number(run_at) - Number(slot)) / 1_000);
  t.true(delays.every((seconds) => seconds >= 0 && seconds <= 600));
  t.true(new Set(delays).size > 10);
  t.is(new Set(rows.map(({ slot }) => Number(slot))).size, 1);
});

test('a worker that dies after its claim loses nothing, and two at the same time hand out nothing twice', async (t) => {
  const at = await tenant(platform);
  const kind = kindOf();
  for (let n = 0; n < 30; n++) await set(at, daily(kind));
  await makeDue(kind);
  const dying = { kind, due: async () => Promise.reject(new Error('killed')) };
  await t.throwsAsync(() => handOut(dying), { message: 'killed' });
  const [a, b] = await Promise.all([handOut({ kind }), handOut({ kind })]);
  const all = [...a, ...b].map(({ ownerId }) => ownerId);
  t.is(all.length, 30);
  t.is(new Set(all).size, 30);
});

test('where the module of a kind is off, occurrences are left out and not made up for', async (t) => {
  const at = await tenant(platform);
  const kind = kindOf();
  await set(at, daily(kind, { catchUp: 'once' }));
  await switchModule(platform, at, 'plugins', false);
  await makeDue(kind);
  t.deepEqual(await handOut({ kind }), []);
  await switchModule(platform, at, 'plugins', true);
  t.deepEqual(await handOut({ kind }), []);
  t.true(Number((await rowsOf(kind))[0]?.slot) > Date.now());
});

test('another tenant neither sees nor changes nor removes it', async (t) => {
  const [at, other] = await Promise.all([tenant(platform), tenant(platform)]);
  const kind = kindOf();
  const schedule = daily(kind);
  await set(at, schedule);
  const [before] = await rowsOf(kind);
  t.is((await asTenant(other, (ctx) => ctx.use('schedules').nextRuns(kind, [schedule.ownerId]))).size, 0);
  await asTenant(other, (ctx) => ctx.use('schedules').removeSchedules({ kind, ownerId: schedule.ownerId }));
  await asTenant(other, (ctx) =>
    ctx
      .use('schedules')
      .setSchedule({ orgId: other.orgId }, { ...schedule, recurrence: { frequency: 'daily', time: '11:00' } }),
  ).catch(() => undefined);
  t.deepEqual(await rowsOf(kind), before ? [before] : []);
  const mine = await asTenant(at, (ctx) => ctx.use('schedules').nextRuns(kind, [schedule.ownerId]));
  t.deepEqual(mine.get(schedule.ownerId), before?.slot ?? undefined);
});
