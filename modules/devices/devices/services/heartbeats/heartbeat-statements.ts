/** The statements of the group commit of heartbeats. */

const HEARTBEATS = `json_to_recordset($1::json) as b (device_id uuid, at timestamptz, ip text, main boolean, watchdog text,
  watchdog_version text, helper_version text, lan_ip text, uptime_seconds bigint, last_user text, pending_reboot boolean,
  battery jsonb, agent_version text, hostname text, os_version text, os_build text, auto_update boolean, metrics jsonb,
  power_commands boolean, is_headless boolean, agent_status text, restart_count integer, flap_detected boolean)`;

/** What other modules contribute to the statement. */
export interface Contributions {
  /** Statements that insert samples (slot `devices.metrics`). */
  samples: readonly string[];
  /** SQL over `o`: whether commands wait for the device (slot `devices.commands`). */
  waiting: string;
}

/**
 * Locks and updates the state of the devices, inserts samples, and returns what the rest of the commit needs. Rows are locked in
 * the order of their ids, so that two processes, or a process and a sweep, do not deadlock.
 */
// reach: devices of agents, each named by its own token
export const stateStatement = ({ samples, waiting }: Contributions): string => `
with b as materialized (select * from ${HEARTBEATS}),
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
    power_commands = coalesce(b.power_commands, s.power_commands),
    is_headless = coalesce(b.is_headless, s.is_headless),
    agent_status = coalesce(b.agent_status, s.agent_status),
    main_agent_restart_count = coalesce(b.restart_count, s.main_agent_restart_count),
    flap_detected = coalesce(b.flap_detected, s.flap_detected),
    latest_metrics = coalesce(b.metrics, s.latest_metrics),
    metrics_at = case when b.metrics is null then s.metrics_at else b.at end
  from old o join b on b.device_id = o.device_id
  where s.device_id = o.device_id
),
-- Back after five minutes with another version than that of the update.
noted as (
  insert into device_changes (device_id, org_id, field, before, after)
  select o.device_id, o.org_id, 'updateFailed', b.agent_version, o.updating_to_version
  from old o join b on b.device_id = o.device_id
  where o.updated and b.agent_version is distinct from o.updating_to_version
)${samples.map((text, at) => `,\nsampled_${at} as (${text})`).join('')}
select o.device_id, o.org_id, o.site_id, o.hostname, o.lifecycle, o.auto_update_enabled, o.slow,
  o.lifecycle = 'decommissioned' and o.uninstall_requested_at is not null as uninstall,
  o.lifecycle = 'active' and o.connectivity = 'offline' as went_online, o.offline_held_at is not null as held,
  coalesce(o.went_silent, false) as went_silent, o.last_seen_ip as ip_from,
  coalesce(b.ip <> o.last_seen_ip, b.ip is not null) as ip_changed,
  ${waiting} as waiting
from old o join b on b.device_id = o.device_id`;

/**
 * Updates what changes slowly. The update reads from `was`, which locks the rows and keeps their former values. A row that is
 * locked is left for the next heartbeat: a decommission holds the device and waits for the state locked here.
 */
// reach: devices of agents, each named by its own token
export const SLOW_STATEMENT = `
with b as (select * from ${HEARTBEATS}),
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

/** Records addresses; at most one audit entry in 24 hours for each device and address is due. */
// reach: devices of agents, each named by its own token
export const ADDRESSES_STATEMENT = `
insert into device_ip_history as h (device_id, org_id, ip, kind, first_seen_at, last_seen_at, audited_at)
select device_id, org_id, ip, 'source', at, at, at
from json_to_recordset($1::json) as c (device_id uuid, org_id uuid, ip text, at timestamptz)
on conflict (device_id, org_id, kind, ip) do update set last_seen_at = excluded.last_seen_at,
  audited_at = case when h.audited_at > excluded.audited_at - interval '24 hours' then h.audited_at
    else excluded.audited_at end
returning device_id, audited_at = last_seen_at as due`;
