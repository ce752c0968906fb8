/** Ends attempts that make no progress, so that no state depends on an acknowledgement. Platform role. */
import type { Context } from '#core';
import { ATTEMPT_FIELDS, type Attempt } from '../../models/attempt.ts';
import { withVerdict } from './attempts.ts';
import { DEVICE_NOTICE } from './device-states.ts';
import { tellEnd } from './outcomes.ts';

/** Maximum number of attempts that one sweep changes; the next sweep follows a minute later. */
const MAX_ROWS = 1000;
/** For offers that no agent takes up: the device went offline, or its agent cannot update itself. */
const OFFER_TIMEOUT = '1 hour';
const STEP_TIMEOUT = '5 minutes';

/** Offers that an agent took up over its socket, where it reports to the devices module only. */
// reach: sweep by the platform role, for all organizations
const TAKEN = `
with due as (
  select a.id from agent_update_attempts a join device_state s on s.device_id = a.device_id
  where a.state = 'offered' and a.component = 'agent' and s.updating_to_version = a.to_version
    and s.updating_since >= a.started_at
  order by a.id limit ${MAX_ROWS} for no key update of a skip locked)
update agent_update_attempts a set state = 'downloading', updated_at = now() from due
where a.id = due.id and a.state = 'offered' returning a.device_id as "deviceId"`;

// reach: sweep by the platform role, for all organizations
const LATE = `
with due as (
  select a.id, a.state from agent_update_attempts a
  where a.finished_at is null and a.updated_at < now() - interval '${STEP_TIMEOUT}'
    and (a.state <> 'offered' or a.updated_at < now() - interval '${OFFER_TIMEOUT}')
  order by a.updated_at, a.id limit ${MAX_ROWS} for no key update skip locked)
update agent_update_attempts a set state = 'failed', reason = 'timeout', finished_at = now(), updated_at = now()
from due where a.id = due.id and a.state = due.state returning ${ATTEMPT_FIELDS}`;

/** The devices module has a sweep of its own that ends the status `updating`. */
export async function sweepAttempts(ctx: Context): Promise<void> {
  const taken = await ctx.sql<{ deviceId: string }>(TAKEN);
  const late = await ctx.sql<Attempt & object>(LATE);
  for (const { attempt, over } of await withVerdict(ctx, late.rows)) {
    tellEnd(ctx, attempt, { over });
  }
  const changed = [...taken.rows, ...late.rows].map(({ deviceId }) => deviceId);
  // For many devices, clearing the whole cache costs the processes less than a notice for each.
  if (changed.length > 100) ctx.notify(DEVICE_NOTICE, '*');
  else for (const deviceId of changed) ctx.notify(DEVICE_NOTICE, deviceId);
}
