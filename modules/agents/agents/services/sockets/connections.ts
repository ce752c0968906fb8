/** The connections of agents and the processes that hold them: one row for each device and role, written in group commits. */
import { type Context, defineBatch, errors } from '#core';

export type SocketRole = 'agent' | 'watchdog';
interface Connect {
  deviceId: string;
  role: SocketRole;
  nodeId: string;
}
export interface Connected {
  /** Counts the connections of this device and role. */
  epoch: number;
  /** The process that held the previous connection. */
  before: string | null;
}

/** Sent to the process that holds the previous socket of an agent, which closes it; the payload is `deviceId role epoch`. */
export const REPLACED_NOTICE = 'agents.replaced';

// In the order of the key, like disconnects, so that the batches of two processes cannot deadlock. The lock waits for a move of
// the device, because otherwise its connection would stay with the old organization.
// reach: devices of agents, each named by its own token
const CONNECT = `
insert into agent_connections as c (device_id, role, org_id, node_id, epoch)
select * from (
  select d.id, a.role, d.org_id, a.node_id, a.n
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::int[]) as a (device_id, role, node_id, n)
  join devices d on d.id = a.device_id order by d.id, a.role for key share of d) here
on conflict (device_id, role) do update set org_id = excluded.org_id, replaced_node_id = c.node_id,
  node_id = excluded.node_id, epoch = c.epoch + excluded.epoch, connected_at = now()
returning device_id as "deviceId", role, epoch, replaced_node_id as before`;

const keyOf = ({ deviceId, role }: { deviceId: string; role: SocketRole }) => `${deviceId} ${role}`;

const connects = defineBatch<Connect, Connected | null>({
  name: 'agents/connects',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    // A row can be updated only once by the statement, so a device that is twice in one batch takes two epochs at once.
    const groups = [...Map.groupBy(items, keyOf).values()].map((same) => ({ ...(same[0] as Connect), n: same.length }));
    const { rows } = await sql<Connected & { deviceId: string; role: SocketRole }>(
      CONNECT,
      [
        groups.map(({ deviceId }) => deviceId),
        groups.map(({ role }) => role),
        groups.map(({ nodeId }) => nodeId),
        groups.map(({ n }) => n),
      ],
      'agents-connect',
    );
    const found = new Map(rows.map((row) => [keyOf(row), row]));
    const left = new Map(groups.map((group) => [keyOf(group), group.n]));
    return items.map((item) => {
      const row = found.get(keyOf(item));
      if (!row) return null;
      const later = (left.get(keyOf(item)) ?? 1) - 1;
      left.set(keyOf(item), later);
      return { epoch: row.epoch - later, before: row.before };
    });
  },
});

/** Takes the next epoch, and notifies the process that held the previous connection. Throws DEVICE_GONE. */
export async function connect(ctx: Context, item: Connect): Promise<number> {
  const connected = await ctx.batch(connects, item);
  if (!connected) throw errors.DeviceGone();
  const { epoch, before } = connected;
  if (before && before !== item.nodeId) ctx.notify(REPLACED_NOTICE, `${item.deviceId} ${item.role} ${epoch}`);
  if (epoch > 1) await ctx.use('device-commands').reclaimCommands(item.deviceId, item.role, epoch);
  return epoch;
}

interface Disconnect {
  deviceId: string;
  role: SocketRole;
  epoch: number;
}
const disconnects = defineBatch<Disconnect, null>({
  name: 'agents/disconnects',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    // reach: devices of agents, each named by its own token
    await sql(
      `with due as (
         select c.device_id, c.role from agent_connections c
         join unnest($1::uuid[], $2::text[], $3::bigint[]) as a (device_id, role, epoch)
           on a.device_id = c.device_id and a.role = c.role and a.epoch = c.epoch
         order by c.device_id, c.role for no key update of c)
       update agent_connections c set node_id = null, last_disconnect_at = now()
       from due where c.device_id = due.device_id and c.role = due.role`,
      [items.map(({ deviceId }) => deviceId), items.map(({ role }) => role), items.map(({ epoch }) => epoch)],
      'agents-disconnect',
    );
    return items.map(() => null);
  },
});

/** Changes the row only if it still has this epoch. The device does not go offline because its socket closes. */
export async function disconnect(ctx: Context, item: Disconnect): Promise<void> {
  await ctx.batch(disconnects, item);
}

/** Whether a process holds the socket of the device's main agent. A dead process counts for up to a minute. */
export async function isConnected(ctx: Context, deviceId: string): Promise<boolean> {
  // reach: callers have checked the device with mustExist
  const { rowCount } = await ctx.sql(
    `select from agent_connections where device_id = $1 and role = 'agent' and node_id is not null`,
    [deviceId],
    'agents-is-connected',
  );
  return rowCount === 1;
}

/** Marks this process as running, and removes the connections of processes that have not done so for a minute. Platform role. */
export async function keepNode(ctx: Context, nodeId: string): Promise<void> {
  await ctx.sql(
    'insert into agent_nodes (id) values ($1) on conflict (id) do update set seen_at = now()',
    [nodeId],
    'agents-keep-node',
  );
  // reach: sweep by the platform role, for all organizations
  await ctx.sql(
    `with dead as (delete from agent_nodes where seen_at < now() - interval '1 minute' returning id)
     update agent_connections c set node_id = null, last_disconnect_at = now() from dead where c.node_id = dead.id`,
    [],
    'agents-dead-nodes',
  );
}

/** The organizations among these that are not active, or whose partner is not. Platform role. */
export async function inactiveAmong(ctx: Context, orgIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await ctx.sql<{ id: string }>(
    `select a.id from unnest($1::uuid[]) as a (id)
     where not exists (select from organizations o join partners p on p.id = o.partner_id
       where o.id = a.id and o.status in ('active', 'trial') and o.deleted_at is null
         and p.status = 'active' and p.deleted_at is null)`,
    [orgIds],
    'agents-inactive-orgs',
  );
  return new Set(rows.map(({ id }) => id));
}
