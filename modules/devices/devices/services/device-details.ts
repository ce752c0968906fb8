/** GET /devices/{id}: all stored fields of one device, and what other modules add through `devices.detail`. */
import { type Context, errors, reach } from '#core';
import { Device } from '../models/device.ts';
import { JOINS, LISTED } from './statuses.ts';

/** The columns of a detail beyond those of the list that do not change by themselves. */
export function detailed(customFields: string): string {
  // reach: columns of statements that limit `d` themselves
  return `d.agent_id as "agentId", d.lifecycle, d.os_build as "osBuild", d.device_role_source as "deviceRoleSource",
  d.is_virtual as "isVirtual", d.virtualization_platform as "virtualizationPlatform", ${customFields} as "customFields",
  d.maintenance_reason as "maintenanceReason", d.enrollment_ip as "enrollmentIp", d.enrolled_by as "enrolledBy",
  d.possible_replacement_of_device_id as "possibleReplacementOfDeviceId", d.quarantined_at as "quarantinedAt",
  d.quarantine_reason as "quarantineReason", d.decommissioned_at as "decommissionedAt",
  d.merged_into_device_id as "mergedIntoDeviceId",
  d.purge_requested_at as "purgeRequestedAt", d.uninstall_requested_at as "uninstallRequestedAt", d.uninstall_confirmed_at as "uninstallConfirmedAt",
  d.uninstall_intent_at as "uninstallIntentAt",
  d.created_at as "createdAt", d.updated_at as "updatedAt", t.timezone as "siteTimezone",
  s.watchdog_version as "watchdogVersion", s.watchdog_last_seen_at as "watchdogLastSeenAt",
  s.helper_version as "helperVersion", s.updating_since as "updatingSince", s.updating_to_version as "updatingToVersion",
  s.uptime_seconds as "uptimeSeconds", s.battery, s.power_commands as "powerCommands",
  s.is_headless as "isHeadless", s.agent_status as "agentStatus", s.flap_detected as "flapDetected",
  s.main_agent_restart_count as "mainAgentRestartCount24h", s.latest_metrics as metrics, s.metrics_at as "metricsAt",
  json_build_object('enabled', d.auto_update_enabled, 'confirmedAt', d.auto_update_confirmed_at) as "autoUpdate",
  case when h.device_id is not null then json_build_object('manufacturer', h.manufacturer, 'model', h.model,
    'serialNumber', h.serial_number, 'motherboardSerial', h.motherboard_serial, 'cpuModel', h.cpu_model,
    'cpuCores', h.cpu_cores, 'cpuThreads', h.cpu_threads, 'gpuModel', h.gpu_model, 'ramTotalMb', h.ram_total_mb,
    'diskTotalGb', h.disk_total_gb, 'biosVersion', h.bios_version) end as hardware,
  (select coalesce(json_agg(json_build_object('name', n.name, 'macAddress', n.mac_address, 'ipv4', n.ipv4, 'ipv6', n.ipv6,
     'isPrimary', n.is_primary, 'publicIp', n.public_ip) order by n.is_primary desc, n.name), '[]')
   from device_network_interfaces n where n.device_id = d.id) as "networkInterfaces",
  (select coalesce(json_agg(json_build_object('mountPoint', k.mount_point, 'device', k.device, 'fsType', k.fs_type,
     'totalGb', k.total_gb, 'usedGb', k.used_gb, 'freeGb', k.free_gb, 'usedPercent', k.used_percent,
     'health', k.health) order by k.mount_point), '[]')
   from device_disks k where k.device_id = d.id) as disks`;
}

/** SQL for the custom values that readers see: with their defaults, and of a list those that it shows. */
export function customValues(ctx: Context, inList: boolean): { sql: string; isConstant: boolean } {
  const stored = inList ? `'{}'::jsonb` : 'd.custom_fields';
  const [custom] = ctx.contributionsWithin('devices.values');
  if (!custom) return { sql: stored, isConstant: true };
  const seen = `coalesce(${custom.value.seen({ inList })}, '{}')`;
  if (!custom.orgIds) return { sql: seen, isConstant: true };
  // Ids of organizations from the server's own tables.
  const on = `d.org_id = any('{${custom.orgIds.join(',')}}'::uuid[])`;
  return { sql: `case when ${on} then ${seen} else ${stored} end`, isConstant: false };
}

/** The same, with the custom values as this caller sees them. */
export const detailedFor = (ctx: Context): string => detailed(customValues(ctx, false).sql);

// reach: readDevice appends reach() to it
const detailOf = (custom: string, pendingCommands: string) => `
select ${LISTED}, ${detailed(custom)}, ${pendingCommands} as "pendingCommands"
from devices d ${JOINS} where d.id = $1 and `;

/** Throws 404 for a device that the caller does not see. Tokens and hashes are never among the fields. */
export async function readDevice(ctx: Context, id: string): Promise<{ data: object }> {
  const { orgIds, siteIds, groupIds } = ctx.scope;
  const values: unknown[] = [id];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  // Prepared for the two most frequent kinds of callers only; each prepared statement takes memory in every connection.
  const custom = customValues(ctx, false);
  const isUsual = custom.isConstant && !siteIds && !groupIds;
  const name = isUsual ? `devices-detail-${orgIds ? 'within' : 'everywhere'}` : undefined;
  const [commands] = ctx.contributions('devices.commands');
  const detail = detailOf(custom.sql, commands?.countWaiting('d.id') ?? '0');
  const { rows } = await ctx.sql<Record<string, unknown>>(detail + seen, values, name);
  const device = rows[0];
  if (!device) throw errors.NotFound('Device not found');
  const [metrics] = ctx.contributions('devices.metrics');
  const recentMetrics = (await metrics?.readRecent(ctx, id)) ?? [];
  const shown = { ...device, id, recentMetrics };
  await addDetails(ctx, [shown]);
  await hideUnreached(ctx, shown);
  return { data: shown };
}

/** Other devices that a device names, by field. They may lie in sites and groups that the caller does not reach. */
const NAMED = ['possibleReplacementOfDeviceId', 'mergedIntoDeviceId'];

/** Leaves out what the caller does not reach. */
export async function hideUnreached(ctx: Context, device: Record<string, unknown>): Promise<void> {
  const { siteIds, groupIds } = ctx.scope;
  const given = NAMED.filter((field) => device[field]);
  if (given.length === 0 || !(siteIds || groupIds)) return;
  const ids = given.map((field) => String(device[field]));
  const reached = await Device.in(ctx).whereIn('devices.id', ids).select('devices.id');
  for (const field of given) if (!reached.some(({ id }) => id === device[field])) device[field] = null;
}

/** The fields that other modules add to these devices, in one or two statements for each module, regardless of their number. */
export async function addDetails(ctx: Context, devices: readonly (Record<string, unknown> & { id: string })[]) {
  for (const { value, orgIds } of ctx.contributionsWithin('devices.detail')) {
    const concerned = orgIds ? devices.filter(({ orgId }) => orgIds.includes(String(orgId))) : devices;
    if (concerned.length === 0) continue;
    const found = await value.readMany(
      ctx,
      concerned.map(({ id }) => id),
    );
    for (const device of concerned) device[value.key] = found.get(device.id) ?? null;
  }
}
