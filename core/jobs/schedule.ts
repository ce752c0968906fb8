/** Schedules: cron fields in UTC, or every N seconds; a tenant job fans out, one job an organization. */
import type { CronItem } from 'graphile-worker';
import type pg from 'pg';
import { momentsAround } from './cron-times.ts';
import type { JobRegistry, KnownJob } from './registry.ts';

/** Items for the queue's own cron. Runs of under a minute are laid out by `core/tick` once a minute. */
export function cronItems(registry: JobRegistry): CronItem[] {
  const items: CronItem[] = [
    { task: 'core/tick', match: '* * * * *', identifier: 'core/tick', options: { maxAttempts: 3 } },
  ];
  for (const { job } of registry.jobs.values()) {
    if (job.schedule && 'cron' in job.schedule) {
      const { cron } = job.schedule;
      items.push({
        task: 'core/start',
        match: cron,
        identifier: job.name,
        payload: { job: job.name },
        options: { maxAttempts: 3 },
      });
    }
  }
  return items;
}

/** Refuses a schedule the queue cannot keep. */
export function checkSchedule({ job }: KnownJob): string | null {
  if (!job.schedule || 'cron' in job.schedule) return null;
  const { every } = job.schedule;
  return Number.isInteger(every) && every >= 5 && 60 % every === 0 ? null : `every ${every} s does not divide a minute`;
}

/** The queue rows go the way that a request's jobs go. */
async function add(pool: pg.Pool, jobs: object[]): Promise<void> {
  if (jobs.length > 0) await pool.query('select flush_effects($1::jsonb)', [JSON.stringify({ jobs })]);
}

/** Those for which the job's module is off; null where the whole installation has it off. */
function organizationsWithout({ modules }: JobRegistry, { module, job }: KnownJob): readonly string[] | null {
  if (job.whenOff) return [];
  return modules.off(module, {}) ? null : modules.orgsWithout(module);
}

async function rowsFor(
  pool: pg.Pool,
  registry: JobRegistry,
  known: KnownJob,
  runAt: Date,
  slot: string,
): Promise<object[]> {
  const from = { orgId: null, requestId: `schedule:${slot}` };
  const { name, scope } = known.job;
  const without = organizationsWithout(registry, known);
  if (!without) return [];
  // Laid out ahead of time, they are no backlog: priority 0 keeps them from being counted as one.
  const at = { runAt, priority: 0 };
  if (scope === 'platform') return [registry.jobRow(name, {}, from, { ...at, key: `${name}:${slot}` })];
  const { rows } = await pool.query<{ id: string }>(
    `select o.id from organizations o join partners p on p.id = o.partner_id
     where o.deleted_at is null and o.status in ('active', 'trial') and p.status = 'active' and p.deleted_at is null
       and o.id <> all($1::uuid[])`,
    [without],
  );
  return rows.map(({ id }) => registry.jobRow(name, {}, from, { ...at, orgId: id, key: `${name}:${id}:${slot}` }));
}

/** Notes that schedules have come round; returns those that are not paused. A paused one lays nothing out. */
async function expect(pool: pg.Pool, schedules: { name: string; at: Date }[]): Promise<string[]> {
  const { rows } = await pool.query<{ identifier: string }>(
    `insert into cron_status as c (identifier, last_expected)
     select s.name, s.at from unnest($1::text[], $2::timestamptz[]) s(name, at)
     where not exists (select from paused_tasks p where p.task = s.name) order by s.name
     on conflict (identifier) do update set last_expected = greatest(c.last_expected, excluded.last_expected)
     returning identifier`,
    [schedules.map(({ name }) => name), schedules.map(({ at }) => at.toISOString())],
  );
  return rows.map(({ identifier }) => identifier);
}

/** Adds the runs of one scheduled job; the key makes a repeated fan-out of the same moment harmless. */
export async function startScheduled(pool: pg.Pool, registry: JobRegistry, name: string, at: Date): Promise<void> {
  const known = registry.jobs.get(name);
  if (!known) return;
  const [expected] = await expect(pool, [{ name, at }]);
  if (!expected) return;
  const rows = await rowsFor(pool, registry, known, at, at.toISOString().slice(0, 16));
  await add(pool, rows);
}

/** Lays out the coming minute of all jobs that run every few seconds. */
export async function layOutMinute(pool: pg.Pool, registry: JobRegistry, minute: Date): Promise<void> {
  const rows: object[] = [];
  const often = [...registry.jobs.values()].filter(({ job }) => job.schedule && !('cron' in job.schedule));
  const expected = new Set(
    await expect(
      pool,
      often.map(({ job }) => ({ name: job.name, at: minute })),
    ),
  );
  for (const known of often) {
    const { schedule } = known.job;
    if (!schedule || 'cron' in schedule || !expected.has(known.job.name)) continue;
    for (let second = 0; second < 60; second += schedule.every) {
      const runAt = new Date(minute.getTime() + second * 1000);
      rows.push(...(await rowsFor(pool, registry, known, runAt, runAt.toISOString().slice(0, 19))));
    }
  }
  await add(pool, rows);
}

/** The start of a schedule counts as missed when it is so late: until then the queue may still be about to run it. */
const MISSED_AFTER_MS = 2 * 60_000;

/**
 * Starts the jobs whose cron time passed while the server or its database was away: each once, however many times it missed.
 * Paused ones wait until they are resumed.
 */
export async function startMissed(pool: pg.Pool, registry: JobRegistry, now: Date): Promise<void> {
  const schedules = new Map(
    [...registry.jobs.values()].flatMap(({ job: { name, schedule } }) =>
      schedule && 'cron' in schedule ? [[name, schedule]] : [],
    ),
  );
  // A schedule that never came round is known since the installation.
  const { rows } = await pool.query<{ name: string; since: Date }>(
    `select k.name, coalesce(c.last_expected, (select min(applied_at) from migrations)) as since
     from unnest($1::text[]) k(name) left join cron_status c on c.identifier = k.name
     where not exists (select from paused_tasks p where p.task = k.name) order by k.name`,
    [[...schedules.keys()]],
  );
  for (const { name, since } of rows) {
    const schedule = schedules.get(name);
    const missed = schedule && momentsAround(schedule, since).next;
    if (!missed || missed.getTime() > now.getTime() - MISSED_AFTER_MS) continue;
    await startScheduled(pool, registry, name, momentsAround(schedule, now).last ?? now);
  }
}
