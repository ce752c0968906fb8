/** The group commit of heartbeats: one statement for all of them, and more only for what has changed. */
import { type Context, defineBatch } from '#core';
import type { ClaimedCommand, Lifecycle } from '../../api.ts';
import { type Claim, claim, delivered } from '../commands/claims.ts';
import { METRIC_COLUMNS, SAMPLED, SAMPLED_TYPES } from '../metrics/metric-columns.ts';
import { type BeatRow, mergeBeats } from './beat-rows.ts';

/** What a beat found and changed, for its sender to answer with, and to audit and tell. */
export interface BeatFacts {
  orgId: string;
  siteId: string;
  hostname: string;
  lifecycle: Lifecycle;
  uninstall: boolean;
  autoUpdateEnabled: boolean;
  wentOnline: boolean;
  /** False when the device came back before anybody was told that it had left. */
  tellOnline: boolean;
  wentSilent: boolean;
  ipFrom: string | null;
  ipTo: string | null;
  /** The change of address is due in the audit trail. */
  auditIp: boolean;
  changedFields: string[];
  commands: ClaimedCommand[];
}
interface StateRow {
  device_id: string;
  org_id: string;
  site_id: string;
  hostname: string;
  lifecycle: Lifecycle;
  uninstall: boolean;
  auto_update_enabled: boolean;
  went_online: boolean;
  held: boolean;
  went_silent: boolean;
  ip_from: string | null;
  ip_changed: boolean;
  slow: boolean;
  waiting: boolean;
}

const BEATS = `json_to_recordset($1::json) as b (device_id uuid, at timestamptz, ip text, main boolean, watchdog text,
  watchdog_version text, helper_version text, lan_ip text, uptime_seconds bigint, last_user text, pending_reboot boolean,
  battery jsonb, agent_version text, hostname text, os_version text, os_build text, auto_update boolean, metrics jsonb,
  ${SAMPLED_TYPES})`;

// Rows are locked in the order of their ids, so that two processes and the sweeps cannot wait for each other in a circle.
const STATE = `
with b as materialized (select * from ${BEATS}),
old as materialized (
  select s.device_id, s.connectivity, s.last_seen_ip, s.offline_held_at, s.main_agent_silent_since as silent,
    d.org_id, d.site_id, d.hostname, d.lifecycle, d.auto_update_enabled, d.uninstall_requested_at, s.updating_to_version,
    not b.main and s.main_agent_silent_since is null and s.main_last_seen_at < b.at - interval '15 minutes' as went_silent,
    b.main and s.updating_since is not null
      and (b.agent_version = s.updating_to_version or b.at > s.updating_since + interval '5 minutes') as updated,
    d.lifecycle <> 'decommissioned' and b.main and (b.hostname <> d.hostname
      or b.os_version is not null and b.os_version is distinct from d.os_version
      or b.os_build is not null and b.os_build is distinct from d.os_build
      or b.agent_version is not null and b.agent_version is distinct from d.agent_version
      or b.auto_update = d.auto_update_enabled and d.auto_update_confirmed_at is null) as slow
  from b join device_state s on s.device_id = b.device_id join devices d on d.id = s.device_id
  order by s.device_id for no key update of s
),
changed as (
  update device_state s set
    connectivity = case when o.lifecycle = 'active' then 'online' else s.connectivity end,
    offline_held_at = null,
    last_seen_at = greatest(s.last_seen_at, b.at),
    main_last_seen_at = case when b.main then greatest(s.main_last_seen_at, b.at) else s.main_last_seen_at end,
    main_agent_silent_since = case when b.main then null when o.went_silent then s.main_last_seen_at
      else s.main_agent_silent_since end,
    last_seen_ip = coalesce(b.ip, s.last_seen_ip),
    lan_ip = coalesce(b.lan_ip, s.lan_ip),
    watchdog_status = coalesce(b.watchdog, s.watchdog_status),
    watchdog_last_seen_at = case when b.watchdog is null then s.watchdog_last_seen_at else b.at end,
    watchdog_version = coalesce(b.watchdog_version, s.watchdog_version),
    helper_version = coalesce(b.helper_version, s.helper_version),
    updating_since = case when o.updated then null else s.updating_since end,
    updating_to_version = case when o.updated then null else s.updating_to_version end,
    pending_reboot = coalesce(b.pending_reboot, s.pending_reboot),
    uptime_seconds = coalesce(b.uptime_seconds, s.uptime_seconds),
    last_user = coalesce(b.last_user, s.last_user),
    battery = coalesce(b.battery, s.battery),
    latest_metrics = coalesce(b.metrics, s.latest_metrics),
    metrics_at = case when b.metrics is null then s.metrics_at else b.at end
  from old o join b on b.device_id = o.device_id
  where s.device_id = o.device_id
),
-- Back after five minutes with another version than the one it was to become.
noted as (
  insert into device_changes (device_id, org_id, field, before, after)
  select o.device_id, o.org_id, 'updateFailed', b.agent_version, o.updating_to_version
  from old o join b on b.device_id = o.device_id
  where o.updated and b.agent_version is distinct from o.updating_to_version
),
sampled as (
  insert into device_metrics (device_id, ts, org_id, ${SAMPLED})
  select o.device_id, b.at, o.org_id, ${METRIC_COLUMNS.map(({ column }) => `b.${column}`).join(', ')}
  from old o join b on b.device_id = o.device_id
  where b.metrics is not null and b.at between now() - interval '1 day' and now() + interval '1 day'
  on conflict do nothing
)
select o.device_id, o.org_id, o.site_id, o.hostname, o.lifecycle, o.auto_update_enabled, o.slow,
  o.lifecycle = 'decommissioned' and o.uninstall_requested_at is not null as uninstall,
  o.lifecycle = 'active' and o.connectivity = 'offline' as went_online, o.offline_held_at is not null as held,
  coalesce(o.went_silent, false) as went_silent, o.last_seen_ip as ip_from,
  coalesce(b.ip <> o.last_seen_ip, b.ip is not null) as ip_changed,
  exists (select from device_commands c where c.device_id = o.device_id and c.status = 'pending') as waiting
from old o join b on b.device_id = o.device_id`;

// The update reads from `was`: rows must be locked before they change, and it hands out how they were. A row that somebody
// holds is left for the next beat: whoever decommissions holds the device and waits for the state locked here.
const SLOW = `
with b as (select * from ${BEATS}),
was as (select d.* from devices d join b on b.device_id = d.id order by d.id
  for no key update of d skip locked),
now_is as (
  update devices d set hostname = coalesce(b.hostname, d.hostname), os_version = coalesce(b.os_version, d.os_version),
    os_build = coalesce(b.os_build, d.os_build), agent_version = coalesce(b.agent_version, d.agent_version),
    auto_update_confirmed_at = case when b.auto_update = d.auto_update_enabled
      then coalesce(d.auto_update_confirmed_at, b.at) else d.auto_update_confirmed_at end,
    updated_at = now()
  from was join b on b.device_id = was.id where d.id = was.id
  returning d.id, d.org_id, was.hostname as hostname_was, d.hostname, was.os_version as os_version_was, d.os_version,
    was.os_build as os_build_was, d.os_build, was.agent_version as agent_version_was, d.agent_version
)
insert into device_changes (device_id, org_id, field, before, after)
select n.id, n.org_id, f.field, f.before, f.after
from now_is n cross join lateral (values ('hostname', n.hostname_was, n.hostname),
  ('osVersion', n.os_version_was, n.os_version), ('osBuild', n.os_build_was, n.os_build),
  ('agentVersion', n.agent_version_was, n.agent_version)) as f (field, before, after)
where f.before is distinct from f.after
returning device_id, field`;

// At most one audit entry in 24 hours for a device and an address.
const ADDRESSES = `
insert into device_ip_history as h (device_id, org_id, ip, kind, first_seen_at, last_seen_at, audited_at)
select device_id, org_id, ip, 'source', at, at, at
from json_to_recordset($1::json) as c (device_id uuid, org_id uuid, ip text, at timestamptz)
on conflict (device_id, org_id, kind, ip) do update set last_seen_at = excluded.last_seen_at,
  audited_at = case when h.audited_at > excluded.audited_at - interval '24 hours' then h.audited_at
    else excluded.audited_at end
returning device_id, audited_at = last_seen_at as due`;

export const beats = defineBatch<BeatRow, BeatFacts | null>({
  name: 'devices/beats',
  maxSize: 500,
  // Ten thousand devices beat 167 times a second: one by one they would be as many statements and commits.
  pace: { everyMs: 50, enough: 16 },
  // What changed less often than a beat may follow in a statement of its own: a beat that fails is simply repeated.
  autocommit: true,
  async run(sql, items) {
    const rows = mergeBeats(items);
    const byDevice = new Map(rows.map((row) => [row.device_id, row]));
    const { rows: states } = await sql<StateRow>(STATE, [JSON.stringify(rows)], 'devices-beats');
    const pick = (states: StateRow[]) => states.map((state) => byDevice.get(state.device_id) as BeatRow);
    const fields = await writeSlow(sql, pick(states.filter((state) => state.slow)));
    const moved = states.filter((state) => state.ip_changed);
    const due = await writeAddresses(sql, moved, byDevice);
    const commands = await claimWaiting(sql, states, byDevice);
    const facts = new Map(states.map((state) => [state.device_id, toFacts(state, byDevice, fields, due)]));
    const told = new Set<string>();
    // From the last beat of a device and role backwards: that one gets the commands, and no fact is told twice.
    return items
      .toReversed()
      .map((item) => {
        const found = facts.get(item.device_id);
        if (!found) return null;
        const key = `${item.device_id} ${item.main}`;
        const mine = told.has(key) ? [] : (commands.get(key) ?? []);
        const fresh = !told.has(item.device_id);
        told.add(key).add(item.device_id);
        return { ...found, ...(fresh ? {} : NOTHING_NEW), commands: mine.map(delivered) };
      })
      .toReversed();
  },
});

const NOTHING_NEW = { wentOnline: false, wentSilent: false, auditIp: false, changedFields: [] };

async function writeSlow(sql: Context['sql'], rows: BeatRow[]): Promise<Map<string, string[]>> {
  if (rows.length === 0) return new Map();
  const changes = await sql<{ device_id: string; field: string }>(SLOW, [JSON.stringify(rows)]);
  const fields = new Map<string, string[]>();
  for (const { device_id, field } of changes.rows) fields.set(device_id, [...(fields.get(device_id) ?? []), field]);
  return fields;
}

async function writeAddresses(sql: Context['sql'], moved: StateRow[], beatOf: Map<string, BeatRow>) {
  if (moved.length === 0) return new Set<string>();
  const rows = moved.map(({ device_id, org_id }) => {
    const beat = beatOf.get(device_id);
    return { device_id, org_id, ip: beat?.ip, at: beat?.at };
  });
  const written = await sql<{ device_id: string; due: boolean }>(ADDRESSES, [JSON.stringify(rows)]);
  return new Set(written.rows.filter((row) => row.due).map((row) => row.device_id));
}

async function claimWaiting(sql: Context['sql'], states: StateRow[], beatOf: Map<string, BeatRow>) {
  const asking: Claim[] = states
    .filter((state) => state.waiting)
    .flatMap(({ device_id: deviceId }) => {
      const beat = beatOf.get(deviceId);
      const epoch = beat?.epoch === undefined ? {} : { epoch: beat.epoch };
      return [
        ...(beat?.main ? [{ deviceId, role: 'agent' as const, ...epoch }] : []),
        ...(beat?.watchdog ? [{ deviceId, role: 'watchdog' as const, ...epoch }] : []),
      ];
    });
  const claimed = asking.length > 0 ? await claim({ sql }, asking) : [];
  return Map.groupBy(claimed, ({ deviceId, role }) => `${deviceId} ${role === 'agent'}`);
}

function toFacts(
  state: StateRow,
  beatOf: Map<string, BeatRow>,
  fields: Map<string, string[]>,
  due: Set<string>,
): Omit<BeatFacts, 'commands'> {
  const beat = beatOf.get(state.device_id);
  return {
    orgId: state.org_id,
    siteId: state.site_id,
    hostname: (beat?.hostname as string | undefined) ?? state.hostname,
    lifecycle: state.lifecycle,
    uninstall: state.uninstall,
    autoUpdateEnabled: state.auto_update_enabled,
    wentOnline: state.went_online,
    tellOnline: !state.held,
    wentSilent: state.went_silent,
    ipFrom: state.ip_from,
    ipTo: beat?.ip ?? null,
    auditIp: state.ip_from !== null && due.has(state.device_id),
    changedFields: fields.get(state.device_id) ?? [],
  };
}
