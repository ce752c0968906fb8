/** Commands over a live connection: given out, started and taken back in group commits. */
import { type Context, defineBatch } from '#core';
import type { ClaimedCommand, TargetRole } from '../models/claimed-command.ts';
import { storableText } from '../models/storable-text.ts';
import { ASYNC_COMMIT, pushes } from './claims.ts';
import { MAX_DELIVERIES } from './deadlines.ts';
import { GIVEN_OUT } from './results.ts';
import { openPayloads } from './sealed-payloads.ts';

/** Like `claimCommands`, for a connection: one statement for all connections that ask at the same time. */
export const pushCommands = async (
  ctx: Context,
  deviceId: string,
  role: TargetRole,
  epoch: number,
): Promise<ClaimedCommand[]> => openPayloads(ctx, await ctx.batch(pushes, { deviceId, role, epoch }));

interface Begin {
  id: string;
  deviceId: string;
  role: TargetRole;
}

// Rows are locked in the order of their ids. The final select reads them as they were before the update.
// reach: devices of agents, each named by its own token
const BEGIN = `
with asked as (select a.* from ${ASYNC_COMMIT}, unnest($1::uuid[], $2::uuid[], $3::text[]) as a (id, device_id, role)),
due as (
  select c.id from device_commands c join asked a on a.id = c.id and a.device_id = c.device_id
  where c.target_role = a.role and c.status <> 'running' and ${GIVEN_OUT.replaceAll(/\b(status|attempt)\b/g, 'c.$1')}
  order by c.id for no key update of c),
begun as (
  update device_commands c set status = 'running', started_at = now() from due where c.id = due.id)
select c.id, c.device_id as "deviceId", c.status, c.attempt from device_commands c
join asked a on a.id = c.id and a.device_id = c.device_id and a.role = c.target_role`;

/** `never`: the command waits and was not given out. `ended`: it has its result. */
export type StartOutcome = 'running' | 'ended' | 'never' | 'unknown';

const begins = defineBatch<Begin, StartOutcome>({
  name: 'device-commands/begins',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    const values = [items.map(({ id }) => id), items.map(({ deviceId }) => deviceId), items.map(({ role }) => role)];
    const { rows } = await sql<{ id: string; deviceId: string; status: string; attempt: number }>(BEGIN, values);
    const found = new Map(rows.map((row) => [`${row.id} ${row.deviceId}`, row]));
    return items.map(({ id, deviceId }) => {
      const row = found.get(`${id} ${deviceId}`);
      if (!row) return 'unknown';
      if (row.status === 'pending' && row.attempt === 0) return 'never';
      return ['pending', 'sent', 'running'].includes(row.status) ? 'running' : 'ended';
    });
  },
});

/** Changes sent to running, in one statement with others; returns the state of the command instead of throwing. */
export const beginCommand = (ctx: Context, deviceId: string, role: TargetRole, id: string): Promise<StartOutcome> =>
  ctx.batch(begins, { id, deviceId, role });

interface SentCommand {
  id: string;
  attempt: number;
  /** The command never left the server: the attempt does not count. */
  unsent?: boolean;
}
interface Release {
  deviceId: string;
  sent: readonly SentCommand[];
}

/** Leaves out commands that were given out again meanwhile, which have another attempt, and those that were started. */
const releases = defineBatch<Release, boolean>({
  name: 'device-commands/releases',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    const all = items.flatMap(({ deviceId, sent }) => sent.map((one) => ({ deviceId, ...one })));
    // reach: devices of agents, each named by its own token
    const { rows } = await sql<{ deviceId: string }>(
      `with due as (
         select c.id, r.unsent from device_commands c
         join unnest($1::uuid[], $2::uuid[], $3::int[], $4::boolean[]) as r (id, device_id, attempt, unsent)
           on r.id = c.id and r.device_id = c.device_id and r.attempt = c.attempt
         where c.status = 'sent' and c.started_at is null and (r.unsent or c.attempt < ${MAX_DELIVERIES})
         order by c.id for no key update of c)
       update device_commands c set status = 'pending', attempt = c.attempt - case when due.unsent then 1 else 0 end
       from due where c.id = due.id returning c.device_id as "deviceId"`,
      [
        all.map(({ id }) => id),
        all.map(({ deviceId }) => deviceId),
        all.map(({ attempt }) => attempt),
        all.map(({ unsent }) => unsent === true),
      ],
    );
    const released = new Set(rows.map(({ deviceId }) => deviceId));
    return items.map(({ deviceId }) => released.has(deviceId));
  },
});

/** Returns commands to the queue that could not be sent or were never started, up to five deliveries. */
export async function releaseCommands(ctx: Context, deviceId: string, sent: Release['sent']): Promise<void> {
  if (sent.length === 0) return;
  // A newer connection, possibly in another process, may be waiting for these commands.
  if (await ctx.batch(releases, { deviceId, sent })) ctx.hint('device-commands.waiting', deviceId);
}

interface Reclaim {
  deviceId: string;
  role: TargetRole;
  epoch: number;
}

const reclaims = defineBatch<Reclaim, null>({
  name: 'device-commands/reclaims',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    // reach: devices of agents, each named by its own token
    await sql(
      `with due as (
         select c.id from unnest($1::uuid[], $2::text[], $3::bigint[]) as r (device_id, role, epoch)
         join device_commands c on c.device_id = r.device_id and c.target_role = r.role
         where c.status = 'sent' and c.started_at is null and c.epoch < r.epoch and c.attempt < ${MAX_DELIVERIES}
         order by c.id for no key update of c skip locked)
       update device_commands c set status = 'pending' from due where c.id = due.id`,
      [items.map(({ deviceId }) => deviceId), items.map(({ role }) => role), items.map(({ epoch }) => epoch)],
      'device-commands-reclaim',
    );
    return items.map(() => null);
  },
});

/** Returns commands to the queue that earlier connections of this device and role carried and that were not started. */
export async function reclaimCommands(ctx: Context, deviceId: string, role: TargetRole, epoch: number): Promise<void> {
  await ctx.batch(reclaims, { deviceId, role, epoch });
}

export interface Progress {
  commandId: string;
  percent: number | null;
  message: string | null;
}

/** Stores the progress of an open command of this device; false when there is none. */
export async function noteProgress(ctx: Context, deviceId: string, progress: Progress): Promise<boolean> {
  const percent = progress.percent === null ? null : Math.max(0, Math.min(100, progress.percent));
  // reach: the agent's own device, which its token names
  const { rowCount } = await ctx.sql(
    `update device_commands set progress_percent = coalesce($3, progress_percent),
       progress_message = coalesce($4, progress_message)
     where id = $1 and device_id = $2 and status in ('sent', 'running')`,
    [progress.commandId, deviceId, percent, storableText(progress.message, 500) ?? null],
  );
  return (rowCount ?? 0) > 0;
}
