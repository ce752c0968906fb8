/** Ends attempts that came to a standstill; no acknowledgement is needed to leave a state. Platform role. */
import type { Context } from '#core';
import { ATTEMPT_FIELDS, type Attempt } from '../../models/attempt.ts';
import { withVerdict } from './attempts.ts';
import { tellEnd } from './outcomes.ts';
import { DEVICE_NOTICE } from './standings.ts';

/** Most attempts that one sweep ends; the next one follows in a minute. */
const MOST = 1000;
/** An offer that nobody takes up: the device went away with it, or its agent cannot update itself. */
const OFFERED = '1 hour';
const UPDATING = '5 minutes';

/** An agent that speaks over its socket reports to devices only: its offer has been taken up. */
// reach: sweep by the platform role, for all organizations
const TAKEN = `
with due as (
  select a.id from agent_update_attempts a join device_state s on s.device_id = a.device_id
  where a.state = 'offered' and a.component = 'agent' and s.updating_to_version = a.to_version
    and s.updating_since >= a.started_at
  order by a.id limit ${MOST} for no key update of a skip locked)
update agent_update_attempts a set state = 'downloading', updated_at = now() from due
where a.id = due.id and a.state = 'offered' returning a.device_id as "deviceId"`;

// reach: sweep by the platform role, for all organizations
const LATE = `
with due as (
  select a.id, a.state from agent_update_attempts a
  where a.finished_at is null and a.updated_at < now() - interval '${UPDATING}'
    and (a.state <> 'offered' or a.updated_at < now() - interval '${OFFERED}')
  order by a.updated_at, a.id limit ${MOST} for no key update skip locked)
update agent_update_attempts a set state = 'failed', reason = 'timeout', finished_at = now(), updated_at = now()
from due where a.id = due.id and a.state = due.state returning ${ATTEMPT_FIELDS}`;

/** The device itself leaves `updating` through its own sweep, and shows offline where it is silent. */
export async function sweepAttempts(ctx: Context): Promise<void> {
  const taken = await ctx.sql<{ deviceId: string }>(TAKEN);
  const late = await ctx.sql<Attempt & object>(LATE);
  for (const { attempt, over } of await withVerdict(ctx, late.rows)) {
    tellEnd(ctx, attempt, { over });
  }
  const changed = [...taken.rows, ...late.rows].map(({ deviceId }) => deviceId);
  // A notice for each of a thousand would cost every process more than forgetting all.
  if (changed.length > 100) ctx.notify(DEVICE_NOTICE, '*');
  else for (const deviceId of changed) ctx.notify(DEVICE_NOTICE, deviceId);
}
