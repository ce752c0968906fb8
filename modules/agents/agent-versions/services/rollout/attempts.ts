/** Attempts as agents report them, and as operators retry them. */
import { type Context, errors } from '#core';
import {
  ATTEMPT_FIELDS,
  type Attempt,
  BEFORE,
  COUNTED,
  FORGIVEN_FAILURES,
  MAX_ATTEMPTS,
  type Reported,
  TRANSIENT,
  type Updatable,
} from '../../models/attempt.ts';
import { DEVICE_NOTICE } from './device-states.ts';
import { tellEnd } from './outcomes.ts';

export interface Report {
  component: Updatable;
  targetVersion: string;
  state: Reported;
  reason?: string;
}

/** A repeated report changes nothing. Throws 404 where nothing was offered, and 409 INVALID_STATE for a step back. */
export async function reportAttempt(ctx: Context, report: Report): Promise<{ changed: boolean }> {
  const { deviceId } = ctx.scope;
  if (!deviceId) throw errors.Unauthenticated();
  const { component, targetVersion, state } = report;
  const ends = state === 'failed' || state === 'rolled_back';
  const reason = ends ? (report.reason ?? (state === 'failed' ? 'start_failed' : null)) : null;
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<Attempt & object>(
    `update agent_update_attempts a set state = $4, reason = $5, updated_at = now(),
       finished_at = case when $6 then now() end
     where a.device_id = $1 and a.component = $2 and a.to_version = $3 and a.state = any($7)
     returning ${ATTEMPT_FIELDS}`,
    [deviceId, component, targetVersion, state, reason, ends, BEFORE[state]],
  );
  const [attempt] = rows;
  if (!attempt) return notChanged(ctx, deviceId, report);
  // Sets the status that the device shows; the next heartbeat or a sweep ends it as well.
  const devices = ctx.use('devices');
  if (component === 'agent') await (ends ? devices.endUpdate : devices.beginUpdate)(deviceId, targetVersion);
  if (ends) for (const one of await withVerdict(ctx, [attempt])) tellEnd(ctx, one.attempt, one);
  ctx.notify(DEVICE_NOTICE, deviceId);
  return { changed: true };
}

async function notChanged(ctx: Context, deviceId: string, report: Report): Promise<{ changed: false }> {
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<{ state: string }>(
    `select state from agent_update_attempts
     where device_id = $1 and component = $2 and to_version = $3 order by started_at desc limit 1`,
    [deviceId, report.component, report.targetVersion],
  );
  const current = rows[0]?.state;
  if (!current) throw errors.NotFound('This version was not offered');
  if (current !== report.state) {
    throw errors.InvalidState({ details: [{ current, allowed: BEFORE[report.state] }] });
  }
  return { changed: false };
}

/** Adds to each ended attempt whether the version is no longer offered to the device. */
export async function withVerdict(
  ctx: Context,
  ended: readonly Attempt[],
): Promise<{ attempt: Attempt; over: boolean }[]> {
  if (ended.length === 0) return [];
  // reach: the caller chose the attempts, and learns only whether their versions are still offered
  const { rows } = await ctx.sql<{ id: string; over: boolean }>(
    `select e.id, count(*) filter (where coalesce(a.reason, '') <> all ($2))
         + greatest(0, count(*) filter (where a.reason = any ($2)) - ${FORGIVEN_FAILURES}) >= ${MAX_ATTEMPTS} as over
     from agent_update_attempts e join agent_update_attempts a
       on a.device_id = e.device_id and a.component = e.component and a.to_version = e.to_version and ${COUNTED}
     where e.id = any($1::uuid[]) group by e.id`,
    [ended.map(({ id }) => id), TRANSIENT],
  );
  const over = new Map(rows.map((row) => [row.id, row.over]));
  return ended.map((attempt) => ({ attempt, over: over.get(attempt.id) ?? false }));
}

/** Forgives the failures of a version on a device; the next heartbeat may be offered the version again. */
export async function retryAttempt(ctx: Context, id: string): Promise<{ data: Attempt }> {
  // reach: mustExist below checks the device before anything is answered
  const found = await ctx.sql<Attempt & { forgiven: boolean }>(
    `select ${ATTEMPT_FIELDS}, a.forgiven from agent_update_attempts a where a.id = $1`,
    [id],
  );
  const attempt = found.rows[0];
  if (!attempt) throw errors.NotFound('Attempt not found');
  // A caller who cannot see the device cannot see its attempts.
  const device = await ctx
    .use('devices')
    .mustExist(attempt.deviceId)
    .catch(() => {
      throw errors.NotFound('Attempt not found');
    });
  const { forgiven, ...shown } = attempt;
  if (attempt.state !== 'failed' && attempt.state !== 'rolled_back') {
    throw errors.InvalidState({ details: [{ current: attempt.state, allowed: ['failed', 'rolled_back'] }] });
  }
  const { deviceId, component, toVersion, orgId } = attempt;
  // reach: the device was checked by mustExist above
  const { rowCount } = await ctx.sql(
    `update agent_update_attempts set forgiven = true
     where device_id = $1 and component = $2 and to_version = $3 and state in ('failed', 'rolled_back') and not forgiven`,
    [deviceId, component, toVersion],
  );
  if (rowCount === 0) ctx.unchanged();
  else {
    ctx.audit('agent.update.retry', {
      ...{ orgId, resourceType: 'device', resourceId: deviceId, resourceName: device.hostname },
      details: { attemptId: id, component, version: toVersion },
    });
    ctx.notify(DEVICE_NOTICE, deviceId);
  }
  return { data: shown };
}
