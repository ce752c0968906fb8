/** Commands over a live connection: given out, begun, taken back, all in group commits. */
import { type Context, defineBatch } from '#core';
import type { Begun, ClaimedCommand, Progress } from '../../api.ts';
import { clean } from '../beats/beat-rows.ts';
import { LAX, pushes } from './claims.ts';
import { MOST_ATTEMPTS } from './deadlines.ts';
import { GIVEN_OUT } from './results.ts';

type Role = 'agent' | 'watchdog';

export const pushCommands = (ctx: Context, deviceId: string, role: Role, epoch: number): Promise<ClaimedCommand[]> =>
  ctx.batch(pushes, { deviceId, role, epoch });

interface Begin {
  id: string;
  deviceId: string;
  role: Role;
}

// Rows are locked in the order of their ids, as everywhere. What is read beside is how the row was before.
const BEGIN = `
with asked as (select a.* from ${LAX}, unnest($1::uuid[], $2::uuid[], $3::text[]) as a (id, device_id, role)),
due as (
  select c.id from device_commands c join asked a on a.id = c.id and a.device_id = c.device_id
  where c.target_role = a.role and c.status <> 'running' and ${GIVEN_OUT.replaceAll(/\b(status|attempt)\b/g, 'c.$1')}
  order by c.id for no key update of c),
begun as (
  update device_commands c set status = 'running', started_at = now() from due where c.id = due.id)
select c.id, c.device_id as "deviceId", c.status, c.attempt from device_commands c
join asked a on a.id = c.id and a.device_id = c.device_id and a.role = c.target_role`;

const begins = defineBatch<Begin, Begun>({
  name: 'devices/begins',
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

export const beginCommand = (ctx: Context, deviceId: string, role: Role, id: string): Promise<Begun> =>
  ctx.batch(begins, { id, deviceId, role });

interface Taken {
  id: string;
  attempt: number;
  /** It never left the server: the attempt does not count. */
  unsent?: boolean;
}
interface Release {
  deviceId: string;
  sent: readonly Taken[];
}

/** Whoever was given it meanwhile has another attempt, and whoever has begun it is left alone. */
const releases = defineBatch<Release, boolean>({
  name: 'devices/releases',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    const all = items.flatMap(({ deviceId, sent }) => sent.map((one) => ({ deviceId, ...one })));
    const { rows } = await sql<{ deviceId: string }>(
      `with due as (
         select c.id, r.unsent from device_commands c
         join unnest($1::uuid[], $2::uuid[], $3::int[], $4::boolean[]) as r (id, device_id, attempt, unsent)
           on r.id = c.id and r.device_id = c.device_id and r.attempt = c.attempt
         where c.status = 'sent' and c.started_at is null and (r.unsent or c.attempt < ${MOST_ATTEMPTS})
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

export async function releaseCommands(ctx: Context, deviceId: string, sent: Release['sent']): Promise<void> {
  if (sent.length === 0) return;
  // A newer connection, of whichever process, may be waiting for exactly these.
  if (await ctx.batch(releases, { deviceId, sent })) ctx.hint('devices.commands', deviceId);
}

interface Reclaim {
  deviceId: string;
  role: Role;
  epoch: number;
}

const reclaims = defineBatch<Reclaim, null>({
  name: 'devices/reclaims',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    await sql(
      `with due as (
         select c.id from unnest($1::uuid[], $2::text[], $3::bigint[]) as r (device_id, role, epoch)
         join device_commands c on c.device_id = r.device_id and c.target_role = r.role
         where c.status = 'sent' and c.started_at is null and c.epoch < r.epoch and c.attempt < ${MOST_ATTEMPTS}
         order by c.id for no key update of c skip locked)
       update device_commands c set status = 'pending' from due where c.id = due.id`,
      [items.map(({ deviceId }) => deviceId), items.map(({ role }) => role), items.map(({ epoch }) => epoch)],
      'devices-reclaim',
    );
    return items.map(() => null);
  },
});

export async function reclaimCommands(ctx: Context, deviceId: string, role: Role, epoch: number): Promise<void> {
  await ctx.batch(reclaims, { deviceId, role, epoch });
}

export async function noteProgress(ctx: Context, deviceId: string, progress: Progress): Promise<boolean> {
  const percent = progress.percent === null ? null : Math.max(0, Math.min(100, progress.percent));
  const { rowCount } = await ctx.sql(
    `update device_commands set progress_percent = coalesce($3, progress_percent),
       progress_message = coalesce($4, progress_message)
     where id = $1 and device_id = $2 and status in ('sent', 'running')`,
    [progress.commandId, deviceId, percent, clean(progress.message, 500) ?? null],
  );
  return (rowCount ?? 0) > 0;
}

export async function beginUpdate(ctx: Context, deviceId: string, targetVersion: string): Promise<void> {
  await ctx.sql(
    `update device_state s set updating_since = now(), updating_to_version = $2
     from devices d where s.device_id = $1 and d.id = s.device_id and d.lifecycle = 'active'
       and d.agent_version is distinct from $2
       and (s.updating_since is null or s.updating_to_version is distinct from $2)`,
    [deviceId, clean(targetVersion, 50) ?? ''],
  );
}

export async function endUpdate(ctx: Context, deviceId: string, targetVersion: string): Promise<void> {
  await ctx.sql(
    `update device_state set updating_since = null, updating_to_version = null
     where device_id = $1 and updating_to_version = $2`,
    [deviceId, clean(targetVersion, 50) ?? ''],
  );
}
