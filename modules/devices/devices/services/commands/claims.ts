/** Hands out waiting commands, each once, however many ask at the same time. */
import { type Context, defineBatch } from '#core';
import type { ClaimedCommand } from '../../api.ts';

export interface Claim {
  deviceId: string;
  role: 'agent' | 'watchdog';
  /** The connection that the commands will go out over; absent when the agent fetches them. */
  epoch?: number;
}
export type Claimed = ClaimedCommand & { deviceId: string; role: Claim['role'] };

/**
 * Part of a `from`, for statements that are a transaction of their own: who is told need not wait for the disk. That a
 * command was given out or begun may be forgotten when the database server itself dies in that moment: then it is given
 * out again, and its agent answers from its journal. Orders and results are waited for, and what came before them with them.
 */
export const LAX = `(select set_config('synchronous_commit', 'off', true)) lax`;

// A quarantined device gets nothing, a decommissioned one only the order to remove its agent. The organization that
// ordered the work must still be the device's own, and the person or key that did must still be let in.
const CLAIM = `
with due as (
  select c.id, asking.epoch
  from ${LAX}, unnest($1::uuid[], $2::text[], $3::bigint[]) as asking (device_id, role, epoch)
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

/** At most ten for each asking role of a device, by priority and age. */
export async function claim(database: Pick<Context, 'sql'>, asking: readonly Claim[]): Promise<Claimed[]> {
  const ids = asking.map(({ deviceId }) => deviceId);
  const roles = asking.map(({ role }) => role);
  const epochs = asking.map(({ epoch }) => epoch ?? null);
  const { rows } = await database.sql<Claimed>(CLAIM, [ids, roles, epochs], 'devices-claim');
  return rows.sort((a, b) => b.priority - a.priority || a.createdAt.getTime() - b.createdAt.getTime());
}

/** What travels to the agent. */
export const delivered = ({ deviceId: _device, role: _role, ...command }: Claimed): ClaimedCommand => command;

export async function claimCommands(ctx: Context, deviceId: string, role: Claim['role']): Promise<ClaimedCommand[]> {
  return (await claim(ctx, [{ deviceId, role }])).map(delivered);
}

/** What waits for many connections, in one statement. */
export const pushes = defineBatch<Claim, ClaimedCommand[]>({
  name: 'devices/pushes',
  maxSize: 500,
  autocommit: true,
  async run(sql, asking) {
    const found = Map.groupBy(await claim({ sql }, asking), ({ deviceId, role }) => `${deviceId} ${role}`);
    return asking.map(({ deviceId, role }) => {
      const mine = found.get(`${deviceId} ${role}`) ?? [];
      // Whoever asks twice at once gets them once.
      found.delete(`${deviceId} ${role}`);
      return mine.map(delivered);
    });
  },
});
