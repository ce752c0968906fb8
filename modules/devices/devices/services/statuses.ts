/** The status that the API shows, derived from stored values, as SQL over `d` and `s`. */

export const STATUS = `case when d.lifecycle <> 'active' then d.lifecycle
  when s.updating_since > now() - interval '5 minutes' then 'updating'
  when s.maintenance_active or d.maintenance_until > now() then 'maintenance'
  else s.connectivity end`;

const utc = (column: string) => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The columns that a list and a detail have in common; rows come out as the API shows them. */
export const LISTED = `d.id, d.org_id as "orgId", o.name as "orgName", d.site_id as "siteId", t.name as "siteName", d.hostname,
  d.display_name as "displayName", d.os_type as "osType", d.os_version as "osVersion", d.architecture,
  ${STATUS} as status, s.connectivity, d.device_role as "deviceRole", d.agent_version as "agentVersion",
  s.last_seen_at as "lastSeenAt", d.enrolled_at as "enrolledAt", d.tags, s.last_user as "lastUser",
  s.pending_reboot as "pendingReboot", s.last_seen_ip as "wanIp", s.lan_ip as "lanIp",
  s.main_agent_silent_since as "mainAgentSilentSince", s.watchdog_status as "watchdogStatus",
  d.maintenance_until as "maintenanceUntil"`;

export const HARDWARE_SUMMARY = `case when h.device_id is not null then json_build_object('manufacturer', h.manufacturer,
  'model', h.model, 'serialNumber', h.serial_number, 'cpuModel', h.cpu_model, 'cpuCores', h.cpu_cores,
  'ramTotalMb', h.ram_total_mb, 'diskTotalGb', h.disk_total_gb) end as hardware`;

export const METRICS_SUMMARY = `case when s.metrics_at is not null then json_build_object(
  'cpuPercent', s.latest_metrics -> 'cpuPercent', 'ramPercent', s.latest_metrics -> 'ramPercent',
  'diskPercent', s.latest_metrics -> 'diskPercent', 'at', ${utc('s.metrics_at')}) end as metrics`;

// reach: joins of statements that limit `d` themselves
export const JOINS = `join device_state s on s.device_id = d.id join organizations o on o.id = d.org_id
  join sites t on t.id = d.site_id left join device_hardware h on h.device_id = d.id`;
