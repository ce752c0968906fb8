/** Gives out waiting commands, each once, whatever the number of concurrent requests. */
import { type Context, defineBatch } from '#core';
import type { ClaimedCommand, ClaimRequest, RoutedCommand, TargetRole } from '../models/claimed-command.ts';
import { openPayloads } from './sealed-payloads.ts';

/**
 * Part of a `from`, for statements that are a transaction of their own: the commit does not wait for the disk. If the database
 * server crashes at that moment, it may forget that a command was given out or started; then the command is given out again, and
 * the agent answers from its journal. Queued commands and results are always durable, and so is everything before them.
 */
export const ASYNC_COMMIT = `(select set_config('synchronous_commit', 'off', true)) async_commit`;

// A quarantined device receives nothing, a decommissioned one only the command that removes its agent. The organization that sent
// the command must still be that of the device, and the user or API key that sent it must still be authorized.
// reach: devices of agents, each named by its own token
const CLAIM = `
with due as (
  select c.id, asking.epoch
  from ${ASYNC_COMMIT}, unnest($1::uuid[], $2::text[], $3::bigint[]) as asking (device_id, role, epoch)
  join devices d on d.id = asking.device_id
  cross join lateral (
    select id from device_commands
    where device_id = d.id and status = 'pending' and target_role = asking.role and deliver_by > now()
      and submitted_org_id = d.org_id and cancel_requested_at is null
      and not orderer_has_left(created_by, source, source_id)
      and (d.lifecycle = 'active' or (d.lifecycle = 'decommissioned' and type = 'uninstall_agent'))
    order by priority desc, created_at, id
    limit 10 for no key update skip locked) c
)
update device_commands c set status = 'sent', sent_at = now(), attempt = c.attempt + 1, epoch = due.epoch
from due where c.id = due.id and c.status = 'pending'
returning c.id, c.device_id as "deviceId", c.target_role as role, c.type, c.payload, c.priority, c.attempt,
  c.deliver_by as "deliverBy", c.execution_timeout_seconds as "executionTimeoutSeconds", c.created_at as "createdAt"`;

/** At most ten commands for each request, by priority and age; `openPayloads` opens them. */
export async function claim(
  database: Pick<Context, 'sql'>,
  requests: readonly ClaimRequest[],
): Promise<RoutedCommand[]> {
  const ids = requests.map(({ deviceId }) => deviceId);
  const roles = requests.map(({ role }) => role);
  const epochs = requests.map(({ epoch }) => epoch ?? null);
  const { rows } = await database.sql<ClaimedCommand & { deviceId: string; role: TargetRole }>(
    CLAIM,
    [ids, roles, epochs],
    'device-commands-claim',
  );
  return rows
    .sort((a, b) => b.priority - a.priority || a.createdAt.getTime() - b.createdAt.getTime())
    .map(({ deviceId, role, ...command }) => ({ deviceId, role, command }));
}

/** At most ten waiting commands, by priority and age; each is given out once. */
export async function claimCommands(ctx: Context, deviceId: string, role: TargetRole): Promise<ClaimedCommand[]> {
  const claimed = await claim(ctx, [{ deviceId, role }]);
  return openPayloads(
    ctx,
    claimed.map(({ command }) => command),
  );
}

/** Claims the waiting commands of many connections in one statement. */
export const pushes = defineBatch<ClaimRequest, ClaimedCommand[]>({
  name: 'device-commands/pushes',
  maxSize: 500,
  autocommit: true,
  async run(sql, requests) {
    const found = Map.groupBy(await claim({ sql }, requests), ({ deviceId, role }) => `${deviceId} ${role}`);
    return requests.map(({ deviceId, role }) => {
      const mine = found.get(`${deviceId} ${role}`) ?? [];
      // Two requests of one device in the same batch receive the commands once.
      found.delete(`${deviceId} ${role}`);
      return mine.map(({ command }) => command);
    });
  },
});
