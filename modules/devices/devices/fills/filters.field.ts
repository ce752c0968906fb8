/** The fields of devices that filters can use. */
import { defineContribution } from '#core';
import { OS_TYPES, STATUSES } from '../models/device.ts';
import { tagKey } from '../models/tag.ts';
import { STATUS } from '../services/statuses.ts';

// reach: a condition inside a statement over devices that has reach() itself
const state = { alias: 's', sql: 'join device_state s on s.device_id = d.id' };
// reach: a condition inside a statement over devices that has reach() itself
const hardware = { alias: 'h', sql: 'left join device_hardware h on h.device_id = d.id' };
const all = ['equals', 'notEquals', 'in', 'notIn'] as const;

const text = (key: string, value: string, joins = [] as { alias: string; sql: string }[]) =>
  ({ key, type: 'string', value, joins }) as const;
const count = (key: string, value: string, joins: { alias: string; sql: string }[]) =>
  ({ key, type: 'number', value, joins }) as const;
const metric = (name: string) =>
  ({ ...count(`metrics.${name}`, `(s.latest_metrics ->> '${name}')::numeric`, [state]), volatile: true }) as const;
const days = (key: string, since: string, joins: { alias: string; sql: string }[]) =>
  ({ ...count(key, `extract(epoch from now() - ${since}) / 86400`, joins), clock: true }) as const;

/** A search function that returns the ids of the devices of matching rows (migrations/001-devices.sql). */
const search = (within: string) => ({ within, places: true }) as const;

/** Addresses of all interfaces, and those that heartbeats report. */
const address = (key: string, from: string) =>
  ({ key, type: 'string', rows: { from: `(${from}) n`, device: 'n.device_id', value: 'n.address' } }) as const;

/** Searches software by its distinct names first: there are far fewer of them than rows (migrations/001-devices.sql). */
const software = {
  type: 'string',
  rows: { from: 'device_software w', device: 'w.device_id', value: 'w.name' },
  searches: {
    like: {
      within: 'devices_with_software_like(?)',
      // reach: a condition inside a statement over devices that has reach() itself
      everywhere: `select w.device_id from device_software w
        where w.name = any(array(select n.name from software_names n where lower(n.name) like lower(?)))`,
    },
  },
} as const;

export default defineContribution('filters.field', {
  fields: [
    { ...text('hostname', 'd.hostname'), searches: { like: search('devices_with_hostname_like(?)') } },
    {
      ...text('displayName', 'd.display_name'),
      searches: { like: search('devices_with_display_name_like(?)') },
    },
    text('agentVersion', 'd.agent_version'),
    {
      key: 'status',
      type: 'enum',
      value: STATUS,
      values: STATUSES,
      operators: all,
      joins: [state],
      volatile: true,
      clock: true,
      removed: 'decommissioned',
    },
    { key: 'enrolledAt', type: 'datetime', value: 'd.enrolled_at' },
    { key: 'lastSeenAt', type: 'datetime', value: 's.last_seen_at', joins: [state], volatile: true },
    {
      key: 'tags',
      type: 'array',
      value: 'd.tags',
      normalise: tagKey,
      searches: {
        hasAny: search('devices_with_any_tag(?)'),
        hasAll: search('devices_with_all_tags(?)'),
      },
    },
    { key: 'osType', type: 'enum', value: 'd.os_type', values: OS_TYPES },
    text('osVersion', 'd.os_version'),
    text('osBuild', 'd.os_build'),
    { key: 'architecture', type: 'enum', value: 'd.architecture', values: ['x64', 'x86', 'arm64'] },
    text('hardware.manufacturer', 'h.manufacturer', [hardware]),
    text('hardware.model', 'h.model', [hardware]),
    text('hardware.serialNumber', 'h.serial_number', [hardware]),
    text('hardware.cpuModel', 'h.cpu_model', [hardware]),
    text('hardware.gpuModel', 'h.gpu_model', [hardware]),
    count('hardware.cpuCores', 'h.cpu_cores', [hardware]),
    count('hardware.ramTotalMb', 'h.ram_total_mb', [hardware]),
    // Compared as text: a `real` never equals the decimal number that users see.
    count('hardware.diskTotalGb', 'h.disk_total_gb::text::numeric', [hardware]),
    address(
      'network.ipAddress',
      // reach: a condition inside a statement over devices that has reach() itself
      `select n.device_id, a.address from device_network_interfaces n, unnest(n.ipv4 || n.ipv6) a (address)
         where a.address <> '' union all select x.device_id, x.lan_ip from device_state x where x.lan_ip is not null`,
    ),
    address(
      'network.publicIp',
      // reach: a condition inside a statement over devices that has reach() itself
      `select n.device_id, n.public_ip as address from device_network_interfaces n where n.public_ip is not null
         union all select x.device_id, x.last_seen_ip from device_state x where x.last_seen_ip is not null`,
    ),
    address(
      'network.macAddress',
      // reach: a condition inside a statement over devices that has reach() itself
      'select device_id, mac_address as address from device_network_interfaces where mac_address is not null',
    ),
    metric('cpuPercent'),
    metric('ramPercent'),
    metric('diskPercent'),
    { ...software, key: 'software.installed', operators: ['contains', 'notContains'] },
    { ...software, key: 'software.notInstalled', operators: ['contains'], absent: true },
    { key: 'orgId', type: 'uuid', value: 'd.org_id' },
    { key: 'siteId', type: 'uuid', value: 'd.site_id' },
    { ...days('daysSinceLastSeen', 's.last_seen_at', [state]), volatile: true },
    days('daysSinceEnrolled', 'd.enrolled_at', []),
  ],
});
