/** Halts rollouts that fail too often, and resumes them at the request of an operator. */
import { type Context, errors, mustAccessOrg, mustReachAllOrgs, mustReachWholeOrg } from '#core';
import halted from '../../events/rollout/halted.ts';
import resumed from '../../events/rollout/resumed.ts';
import { COUNTED, type Updatable } from '../../models/attempt.ts';
import { type UpdatePolicy, updatePolicy } from '../../models/update-policy.ts';
import { CATALOG_NOTICE } from '../catalog.ts';

/** With fewer attempts the percentage of failures is not significant. */
const MIN_ATTEMPTS = 20;
const PERIOD = '30 days';

interface Count {
  orgId: string | null;
  partnerId: string;
  component: Updatable;
  version: string;
  attempts: number;
  failures: number;
  settings: unknown;
}

// Counts for each organization and for each partner as a whole, since the last resume. A device counts as one failure, and no
// longer after an operator retried it.
// reach: platform role: a rollout is judged by all devices of its owner
const COUNTS = `
with a as (
  select a.*, o.partner_id from agent_update_attempts a join organizations o on o.id = a.org_id
  where a.started_at > now() - interval '${PERIOD}' and (a.finished_at is null or a.state = 'succeeded' or ${COUNTED})),
owned as (
  select a.*, a.org_id as owner_org from a union all select a.*, null from a),
counted as (
  select w.owner_org, w.partner_id, w.component, w.to_version,
    count(distinct w.device_id)::int as attempts,
    count(distinct w.device_id) filter (where w.state in ('failed', 'rolled_back'))::int as failures
  from owned w
  where w.started_at > coalesce((select max(h.resumed_at) from agent_rollout_halts h
    where coalesce(h.org_id, h.partner_id) = coalesce(w.owner_org, w.partner_id) and h.component = w.component
      and h.version = w.to_version), '-infinity')
  group by 1, 2, 3, 4)
select c.owner_org as "orgId", c.partner_id as "partnerId", c.component, c.to_version as version, c.attempts, c.failures,
  p.settings -> 'agent-versions' as settings
from counted c join partners p on p.id = c.partner_id
where c.failures > 0 and not exists (select from agent_rollout_halts h where h.resumed_at is null
  and coalesce(h.org_id, h.partner_id) = coalesce(c.owner_org, c.partner_id) and h.component = c.component
  and h.version = c.to_version)`;

/** Platform role. Leaves rollouts alone that are halted already. */
export async function haltFailing(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Count>(COUNTS);
  for (const count of rows) {
    const policy = count.orgId
      ? await ctx.settings<UpdatePolicy>('agent-versions', count.orgId)
      : partnerPolicy(count.settings);
    if (fails(count, policy)) await halt(ctx, count);
  }
}

/** Whether a limit of the policy is reached. */
export const fails = (
  { attempts, failures }: Pick<Count, 'attempts' | 'failures'>,
  policy: Pick<UpdatePolicy, 'haltOnFailureCount' | 'haltOnFailurePercent'>,
): boolean =>
  failures >= policy.haltOnFailureCount ||
  (attempts >= MIN_ATTEMPTS && failures * 100 >= policy.haltOnFailurePercent * attempts);

/** The policy of a partner as a whole; the defaults where its settings are invalid. */
function partnerPolicy(settings: unknown): UpdatePolicy {
  const { value, error } = updatePolicy.validate(settings ?? {}, { stripUnknown: true });
  return error ? (updatePolicy.validate({}).value as UpdatePolicy) : value;
}

async function halt(ctx: Context, count: Count): Promise<void> {
  const { orgId, component, version, attempts, failures } = count;
  const partnerId = orgId ? null : count.partnerId;
  const { rows } = await ctx.sql<{ id: string }>(
    `insert into agent_rollout_halts (org_id, partner_id, component, version, attempts, failures)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning id`,
    [orgId, partnerId, component, version, attempts, failures],
  );
  const id = rows[0]?.id;
  if (!id) return;
  const details = { component, version, attempts, failures };
  ctx.audit('agent.rollout.halt', {
    ...{ orgId, partnerId: count.partnerId, resourceType: 'agent_rollout', resourceId: id, resourceName: version },
    details,
  });
  ctx.emit(halted, { haltId: id, partnerId: count.partnerId, ...details }, { orgId });
  ctx.notify(CATALOG_NOTICE, '*');
}

/** Restarts the count of failures. A caller limited to some organizations cannot resume a rollout of the whole partner. */
export async function resumeRollout(ctx: Context, id: string): Promise<{ success: true }> {
  const { rows } = await ctx.sql<{
    orgId: string | null;
    partnerId: string | null;
    component: Updatable;
    version: string;
    resumed: boolean;
  }>(
    `select org_id as "orgId", partner_id as "partnerId", component, version, resumed_at is not null as resumed
     from agent_rollout_halts where id = $1`,
    [id],
  );
  const found = rows[0];
  if (!found) throw errors.NotFound('Halted rollout not found');
  const { orgId, partnerId, component, version } = found;
  if (orgId) mustAccessOrg(ctx, orgId);
  else {
    mustReachAllOrgs(ctx);
    if (ctx.scope.kind === 'organization') throw errors.Forbidden('Only the partner may resume this rollout');
  }
  mustReachWholeOrg(ctx);
  const done = await ctx.sql(
    `update agent_rollout_halts set resumed_at = now(), resumed_by = $2 where id = $1 and resumed_at is null`,
    [id, ctx.actor.kind === 'user' ? ctx.actor.id : null],
  );
  if (done.rowCount === 0) throw errors.InvalidState({ details: [{ current: 'resumed', allowed: ['halted'] }] });
  ctx.audit('agent.rollout.resume', {
    ...{ orgId, ...(partnerId ? { partnerId } : {}) },
    ...{ resourceType: 'agent_rollout', resourceId: id, resourceName: version },
    details: { component, version },
  });
  ctx.emit(resumed, { haltId: id, component, version }, { orgId });
  ctx.notify(CATALOG_NOTICE, '*');
  return { success: true };
}
