/** Evaluations that no change causes: periodic ones for what changes with time, and nightly ones of all groups. Platform role. */
import type { Context } from '#core';

/** Seconds over which the evaluations of one run are spread. */
const ROUND_SECONDS = 300;
const NIGHT_SECONDS = 7200;

// reach: platform role, for all organizations
const DYNAMIC_GROUPS = `from device_groups g join organizations o on o.id = g.org_id join partners p on p.id = o.partner_id
  where g.type = 'dynamic' and o.deleted_at is null and p.status = 'active' and p.deleted_at is null`;
/** Seconds after the start of a run: the same for a group in each run, whatever other groups exist. */
const offset = (seconds: number) => `(hashtextextended(g.id::text, 0) & 2147483647) % ${seconds}`;

interface Due {
  id: string;
  orgId: string;
  afterSeconds: number;
}

/** Schedules groups whose filter uses times, or values that heartbeats change. */
export async function schedulePeriodic(ctx: Context): Promise<void> {
  const without = ctx.services.modules.orgsWithout('device-groups');
  const { rows } = await ctx.sql<Due>(
    `select g.id, g.org_id as "orgId", ${offset(ROUND_SECONDS)} as "afterSeconds" ${DYNAMIC_GROUPS}
       and g.evaluation_mode <> 'event' and g.org_id <> all($1::uuid[])`,
    [without],
  );
  for (const { id, orgId, afterSeconds } of rows) {
    const runAt = new Date(Date.now() + afterSeconds * 1000);
    ctx.addJob('device-groups/evaluate-group', { groupId: id }, { orgId, key: `group-periodic:${id}`, runAt });
  }
}

/** Schedules every dynamic group. Changes that this finds in a group in mode `event` are changes that an event missed. */
export async function scheduleReconcile(ctx: Context): Promise<void> {
  const { modules } = ctx.services;
  if (modules.off('device-groups', {})) return;
  const { rows } = await ctx.sql<Due>(
    `select g.id, g.org_id as "orgId", ${offset(NIGHT_SECONDS)} as "afterSeconds" ${DYNAMIC_GROUPS}
       and g.org_id <> all($1::uuid[])`,
    [modules.orgsWithout('device-groups')],
  );
  for (const { id, orgId, afterSeconds } of rows) {
    const runAt = new Date(Date.now() + afterSeconds * 1000);
    const payload = { groupId: id, reconcile: true };
    ctx.addJob('device-groups/evaluate-group', payload, { orgId, key: `group-reconcile:${id}`, runAt });
  }
}

/** Corrects counts by their difference, so that concurrent changes are kept. @returns the number of wrong counts */
export async function recount(ctx: Context): Promise<number> {
  // reach: platform role, for all organizations
  const { rowCount } = await ctx.sql(
    `with counted as materialized (
       select g.id, g.device_count as had, count(m.device_id) filter (where not m.is_excluded) as n
       from device_groups g left join device_group_members m on m.group_id = g.id group by g.id),
     wrong as (
       select g.id, c.n - c.had as off from counted c join device_groups g on g.id = c.id where c.n <> c.had
       order by g.id for no key update of g skip locked)
     update device_groups g set device_count = greatest(0, g.device_count + wrong.off) from wrong where g.id = wrong.id`,
  );
  return rowCount ?? 0;
}
