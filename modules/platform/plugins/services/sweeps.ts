/** Scheduled work: steps that never ended, queues that grew too long, old logs. */
import type { Context } from '#core';
import { CHANGED } from './running/facts.ts';

const STEP_MINUTES = 10;
const QUEUE_CAP = 10_000;
const LOG_DAYS = 14;
const LOG_CAP = 50_000;
const BATCH = 5_000;

/** Platform role. */
export async function sweepSteps(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<{ id: string; orgId: string | null; status: string }>(
    `update plugin_installations set status_since = now(), updated_at = now(),
       status = case when status = 'uninstalling' then status else 'error' end, enabled = false,
       error_message = case when status = 'uninstalling' then error_message else status || ' took longer than ${STEP_MINUTES} minutes' end
     where id in (select id from plugin_installations
       where status in ('installing', 'updating', 'uninstalling') and status_since < now() - interval '${STEP_MINUTES} minutes'
       order by status_since limit 500 for update skip locked)
     returning id, org_id as "orgId", status`,
  );
  for (const { id, orgId, status } of rows) {
    if (status === 'uninstalling')
      ctx.addJob('plugins/uninstall', { installationId: id }, { orgId, key: `plugin:${id}` });
    else ctx.notify(CHANGED, id);
  }
}

/** Platform role. Removes the oldest first: what happens now matters more. The plugin is healthy again when half is done. */
export async function trimQueues(ctx: Context, cap = QUEUE_CAP): Promise<void> {
  const { rows } = await ctx.sql<{ id: string; orgId: string; dropped: number }>(
    `with long as (
       select installation_id as id, org_id, count(*) as n from plugin_queue group by 1, 2 having count(*) > ${cap}),
     gone as (
       delete from plugin_queue q using long, lateral (
         select o.id from plugin_queue o where o.installation_id = long.id and o.org_id = long.org_id and o.lease is null
         order by o.created_at, o.id limit long.n - ${cap}) o
       where q.id = o.id returning q.installation_id as id, q.org_id)
     select id, org_id as "orgId", count(*)::int as dropped from gone group by 1, 2`,
  );
  for (const { id, orgId, dropped } of rows) {
    await ctx.sql(
      `with slow as (update plugin_installations set health = 'degraded', error_message = 'It is slower than what comes'
         where id = $1 and enabled returning id)
       insert into plugin_logs (installation_id, org_id, level, message) select id, $3, 'error', $2 from slow`,
      [id, `More than ${cap} waited: the oldest ${dropped} were dropped`, orgId],
    );
  }
  await ctx.sql(
    `update plugin_installations i set health = 'ok', error_message = null where health = 'degraded'
       and (select count(*) from (select from plugin_queue q where q.installation_id = i.id limit $1) x) < $1`,
    [Math.ceil(cap / 2)],
  );
}

/** Platform role. True where there may be more. */
export async function pruneLogs(ctx: Context, cap = LOG_CAP): Promise<boolean> {
  const old = await ctx.sql(
    `delete from plugin_logs where id in (
       select id from plugin_logs where timestamp < now() - interval '${LOG_DAYS} days' limit ${BATCH})`,
  );
  const many = await ctx.sql(
    `with full_ones as (select installation_id as id from plugin_logs group by 1 having count(*) > ${cap}),
     edge as (
       select f.id, e.timestamp from full_ones f, lateral (
         select l.timestamp from plugin_logs l where l.installation_id = f.id
         order by l.timestamp desc, l.id desc offset ${cap} limit 1) e)
     delete from plugin_logs l where l.id in (
       select x.id from edge, lateral (
         select l.id from plugin_logs l where l.installation_id = edge.id and l.timestamp <= edge.timestamp limit ${BATCH}) x)`,
  );
  return (old.rowCount ?? 0) >= BATCH || (many.rowCount ?? 0) >= BATCH;
}
