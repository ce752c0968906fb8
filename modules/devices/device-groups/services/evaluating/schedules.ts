/** Evaluations that no change announces: what moves with time, and the nightly look at everything. Platform role. */
import type { Context } from '#core';

/** Seconds over which the groups of one round are spread, so that they do not all come at once. */
const ROUND_SECONDS = 300;
const NIGHT_SECONDS = 7200;

// reach: platform role, for all organizations
const LIVING = `from device_groups g join organizations o on o.id = g.org_id join partners p on p.id = o.partner_id
  where g.type = 'dynamic' and o.deleted_at is null and p.status = 'active' and p.deleted_at is null`;
/** The same place in each round, whatever other groups there are. */
const offset = (seconds: number) => `(hashtextextended(g.id::text, 0) & 2147483647) % ${seconds}`;

interface Due {
  id: string;
  orgId: string;
  afterSeconds: number;
}

/** Groups whose filter asks for times, or for what heartbeats change. */
export async function schedulePeriodic(ctx: Context): Promise<void> {
  const without = ctx.services.modules.orgsWithout('device-groups');
  const { rows } = await ctx.sql<Due>(
    `select g.id, g.org_id as "orgId", ${offset(ROUND_SECONDS)} as "afterSeconds" ${LIVING}
       and g.evaluation_mode <> 'event' and g.org_id <> all($1::uuid[])`,
    [without],
  );
  for (const { id, orgId, afterSeconds } of rows) {
    const runAt = new Date(Date.now() + afterSeconds * 1000);
    ctx.addJob('device-groups/evaluate-group', { groupId: id }, { orgId, key: `group-periodic:${id}`, runAt });
  }
}

/** Every dynamic group. What this finds to change in one that follows events, an event has missed. */
export async function scheduleReconcile(ctx: Context): Promise<void> {
  const { modules } = ctx.services;
  if (modules.off('device-groups', {})) return;
  const { rows } = await ctx.sql<Due>(
    `select g.id, g.org_id as "orgId", ${offset(NIGHT_SECONDS)} as "afterSeconds" ${LIVING}
       and g.org_id <> all($1::uuid[])`,
    [modules.orgsWithout('device-groups')],
  );
  for (const { id, orgId, afterSeconds } of rows) {
    const runAt = new Date(Date.now() + afterSeconds * 1000);
    const payload = { groupId: id, reconcile: true };
    ctx.addJob('device-groups/evaluate-group', payload, { orgId, key: `group-reconcile:${id}`, runAt });
  }
}

/** Corrects counts by what they are off, so that changes at the same time keep theirs. @returns how many were wrong */
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
