/** Marks silent devices offline, and reports many of them at once as one outage. Platform role; works on sets of rows. */
import type { Context } from '#core';
import deviceOffline from '../../events/offline.ts';
import outage from '../../events/outage.ts';

/** Devices that one sweep marks; the next one follows in 30 seconds. */
const MAX_DEVICES = 5000;
/** Shares of an organization's devices, and of all devices, that count as an outage; fewer than `minDevices` never do. */
const OUTAGE = { ofOrg: 0.3, ofAll: 0.2, minDevices: 5 };

interface Silent {
  id: string;
  orgId: string;
  siteId: string;
  hostname: string;
  lastSeenAt: Date;
}
const SHOWN = `s.device_id as id, d.org_id as "orgId", d.site_id as "siteId", d.hostname, s.last_seen_at as "lastSeenAt"`;

// The setting of the organization, else that of its partner, else a default by the role of the device: workstations are often
// switched off. Values outside 3 to 60 minutes are ignored.
const minutes = (
  row: string,
) => `(select m from (select case when jsonb_typeof(v) = 'number' then v::text::numeric end as m
  from (select ${row}.settings #> '{devices,offlineAfterMinutes}') x (v)) y where m between 3 and 60)`;
// reach: sweep by the platform role, for all organizations
const SWEEP = `
with patience as (
  select o.id, coalesce(${minutes('o')}, ${minutes('p')})::integer as said
  from organizations o join partners p on p.id = o.partner_id),
due as (
  select s.device_id, s.last_seen_at from device_state s join devices d on d.id = s.device_id
    join patience on patience.id = d.org_id
  where s.connectivity = 'online' and s.last_seen_at < now() - interval '3 minutes'
    and s.last_seen_at < now() - make_interval(mins =>
      coalesce(patience.said, case d.device_role when 'workstation' then 10 else 5 end))
  order by s.device_id limit ${MAX_DEVICES} for no key update of s skip locked)
update device_state s set connectivity = 'offline'
from due join devices d on d.id = due.device_id
where s.device_id = due.device_id and s.connectivity = 'online' and s.last_seen_at = due.last_seen_at
returning ${SHOWN}`;

/** Marks silent devices offline, and holds the events back when it is an outage. */
export async function sweepSilent(ctx: Context): Promise<void> {
  const { rows: fallen } = await ctx.sql<Silent>(SWEEP);
  if (fallen.length > 0) {
    const byOrg = Map.groupBy(fallen, ({ orgId }) => orgId);
    // reach: sweep by the platform role, for all organizations
    const { rows: counts } = await ctx.sql<{ orgId: string; n: number; held: boolean }>(
      `select d.org_id as "orgId", count(*) as n, bool_or(s.offline_held_at is not null) as held
       from devices d join device_state s on s.device_id = d.id where d.lifecycle = 'active' group by d.org_id`,
    );
    const all = counts.reduce((sum, { n }) => sum + n, 0);
    const everywhere = isOutage(fallen.length, all, OUTAGE.ofAll);
    for (const { orgId, n, held } of counts) {
      const gone = byOrg.get(orgId) ?? [];
      if (gone.length === 0) continue;
      if (!everywhere && !isOutage(gone.length, n, OUTAGE.ofOrg)) tellOffline(ctx, gone);
      else await hold(ctx, orgId, gone, n, held);
    }
  }
  await releaseHeld(ctx);
}

const isOutage = (gone: number, of: number, share: number) => gone >= OUTAGE.minDevices && gone > of * share;

/** Holds the offline events of an outage back. The sweep has locked the rows. */
async function hold(ctx: Context, orgId: string, gone: Silent[], of: number, known: boolean): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  await ctx.sql(`update device_state set offline_held_at = now() where device_id = any($1::uuid[])`, [
    gone.map(({ id }) => id),
  ]);
  if (!known) ctx.emit(outage, { offline: gone.length, of }, { orgId });
}

/** Emits the events of devices that are still offline three minutes after the outage. */
async function releaseHeld(ctx: Context): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  const { rows } = await ctx.sql<Silent>(
    `with due as (
       select device_id from device_state
       where connectivity = 'offline' and offline_held_at < now() - interval '3 minutes'
       order by device_id limit ${MAX_DEVICES} for no key update skip locked)
     update device_state s set offline_held_at = null from due join devices d on d.id = due.device_id
     where s.device_id = due.device_id returning ${SHOWN}`,
  );
  tellOffline(ctx, rows);
}

function tellOffline(ctx: Context, gone: readonly Silent[]): void {
  for (const { id, orgId, siteId, hostname, lastSeenAt } of gone) {
    const details = { from: 'online', to: 'offline', lastSeenAt: lastSeenAt.toISOString() };
    ctx.audit('agent.heartbeat.state_change', {
      orgId,
      resourceType: 'device',
      resourceId: id,
      resourceName: hostname,
      details,
    });
    ctx.emit(deviceOffline, { hostname, lastSeenAt: lastSeenAt.toISOString() }, { orgId, siteId, deviceId: id });
  }
}

/** Marks the device of an agent that stops offline. False when it was offline already. */
export async function goOffline(ctx: Context, deviceId: string): Promise<boolean> {
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<Silent>(
    `update device_state s set connectivity = 'offline' from devices d
     where s.device_id = $1 and d.id = s.device_id and s.connectivity = 'online' returning ${SHOWN}`,
    [deviceId],
  );
  tellOffline(ctx, rows);
  return rows.length > 0;
}

/**
 * An update that takes over five minutes has failed: the device shows its real status again, offline without a heartbeat since.
 */
export async function sweepUpdating(ctx: Context): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  const { rows } = await ctx.sql<Silent & { went: boolean }>(
    `with due as (
       select device_id, connectivity, updating_since, updating_to_version from device_state
       where updating_since < now() - interval '5 minutes' order by device_id limit ${MAX_DEVICES} for no key update skip locked),
     noted as (
       insert into device_changes (device_id, org_id, field, after)
       select d.id, d.org_id, 'updateFailed', due.updating_to_version from due join devices d on d.id = due.device_id)
     update device_state s set updating_since = null, updating_to_version = null,
       connectivity = case when s.last_seen_at > due.updating_since then s.connectivity else 'offline' end
     from due join devices d on d.id = due.device_id
     where s.device_id = due.device_id and s.updating_since = due.updating_since
     returning ${SHOWN}, due.connectivity = 'online' and s.connectivity = 'offline' as went`,
  );
  tellOffline(
    ctx,
    rows.filter(({ went }) => went),
  );
}

/** Marks watchdogs offline that have not reported for five minutes. */
export async function sweepWatchdogs(ctx: Context): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  await ctx.sql(
    `with due as (
       select device_id from device_state
       where watchdog_status <> 'offline' and watchdog_last_seen_at < now() - interval '5 minutes'
       order by device_id limit ${MAX_DEVICES} for no key update skip locked)
     update device_state s set watchdog_status = 'offline' from due where s.device_id = due.device_id`,
  );
}
