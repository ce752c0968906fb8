/** The status of rollouts: installed versions, outcomes of attempts, failing devices, and halts. */
import { type Context, isLimited, mustAccessOrg, mustAccessSite, reach } from '#core';
import { ATTEMPT_FIELDS, type Attempt } from '../../models/attempt.ts';

export interface StatusQuery {
  orgId?: string;
  siteId?: string;
}
const PERIOD = '30 days';
/** Maximum number of rows in each list of the answer. */
const MAX_ROWS = 100;

/** Counts only devices that the caller may see. */
export async function rolloutStatus(ctx: Context, { orgId, siteId }: StatusQuery): Promise<{ data: object }> {
  if (orgId) mustAccessOrg(ctx, orgId);
  if (siteId) mustAccessSite(ctx, siteId);
  const values: unknown[] = [];
  const add = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const seen = [
    reach(ctx, 'd', add),
    ...(orgId ? [`d.org_id = ${add(orgId, 'uuid')}`] : []),
    ...(siteId ? [`d.site_id = ${add(siteId, 'uuid')}`] : []),
    `d.lifecycle in ('active', 'quarantined')`,
  ].join(' and ');
  const versions = await ctx.sql(
    `select d.os_type as platform, d.agent_version as version, count(*)::int as devices
     from devices d where ${seen} group by 1, 2 order by 3 desc, 1, 2 limit ${MAX_ROWS}`,
    values,
  );
  const attempts = await ctx.sql<{ state: string; n: number }>(
    `select a.state, count(*)::int as n from agent_update_attempts a join devices d on d.id = a.device_id
     where a.started_at > now() - interval '${PERIOD}' and ${seen} group by 1 order by 1`,
    values,
  );
  const failing = await ctx.sql<Attempt & { hostname: string }>(
    `select * from (
       select distinct on (a.device_id, a.component) ${ATTEMPT_FIELDS}, d.hostname, a.forgiven
       from agent_update_attempts a join devices d on d.id = a.device_id
       where a.started_at > now() - interval '${PERIOD}' and ${seen}
       order by a.device_id, a.component, a.started_at desc) l
     where state in ('failed', 'rolled_back') and not forgiven and coalesce(reason, '') <> all ('{withdrawn,superseded}')
     order by "finishedAt" desc, id limit ${MAX_ROWS}`,
    values,
  );
  return {
    data: {
      versions: versions.rows,
      attempts: Object.fromEntries(attempts.rows.map(({ state, n }) => [state, n])),
      failing: failing.rows.map(({ forgiven: _, ...row }: Attempt & { hostname: string; forgiven?: boolean }) => row),
      halted: await haltsOf(ctx, orgId),
    },
  };
}

async function haltsOf(ctx: Context, orgId: string | undefined): Promise<object[]> {
  const { orgIds } = ctx.scope;
  // A halt counts all devices of its owner, which are not for callers limited to sites or groups.
  const counts = isLimited(ctx) ? '' : ', h.attempts, h.failures';
  const { rows } = await ctx.sql(
    `select h.id, h.org_id as "orgId", h.partner_id as "partnerId", h.component, h.version${counts},
       h.halted_at as "haltedAt"
     from agent_rollout_halts h
     where h.resumed_at is null and ($1::uuid[] is null or h.org_id is null or h.org_id = any($1))
       and ($2::uuid is null or h.org_id = $2
         or h.partner_id = (select o.partner_id from organizations o where o.id = $2))
     order by h.halted_at desc, h.id limit ${MAX_ROWS}`,
    [orgIds, orgId ?? null],
  );
  return rows;
}
