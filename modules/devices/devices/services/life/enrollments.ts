/** Enrolls devices: as a new row, or as the old one when that is proven or the organization allows it. */
import { randomBytes } from 'node:crypto';
import { type Context, errors } from '#core';
import deviceEnrolled from '../../events/enrolled.ts';
import { DEVICE_ROLES, Device } from '../../models/device.ts';
import type { Enrolled, EnrollInput } from '../../models/enrollment.ts';
import { storableText } from '../../models/storable-text.ts';
import { writeHardware } from '../inventory/hardware.ts';
import { checkLimits } from './quotas.ts';

const PLATFORMS = ['vmware', 'hyperv', 'virtualbox', 'qemu', 'kvm', 'xen', 'bochs', 'parallels'];

interface Match {
  id: string;
  siteId: string;
  /** Serial numbers of machine and board, or the machine id, are the same: more than a common name. */
  strong: boolean;
  connectivity: 'online' | 'offline';
  lifecycle: string;
  recent: boolean;
}

// Serial numbers and names are not secret, so a match is a hint and not a proof.
// reach: the enrollment key names the organization; platform role
const MATCH = `
select d.id, d.site_id as "siteId", d.lifecycle, s.connectivity, s.last_seen_at > now() - interval '24 hours' as recent,
  coalesce(d.machine_id = $2 or (h.serial_number = $3 and h.motherboard_serial = $4), false) as strong
from devices d join device_state s on s.device_id = d.id left join device_hardware h on h.device_id = d.id
where d.org_id = $1 and d.id in (
  select id from devices where org_id = $1 and machine_id = $2
  union all select device_id from device_hardware where org_id = $1 and serial_number = $3
  union all select id from devices where org_id = $1 and lower(hostname) collate "C" = lower($5))
  and d.id is distinct from $6::uuid
order by strong desc, d.lifecycle = 'decommissioned', s.last_seen_at desc nulls last, d.id limit 1`;

/**
 * Enrolls a device: quota, rows, audit entry `device.create` {via}, event `devices.enrolled`. Runs in the caller's transaction
 * with the platform role: the enrollment key determines the organization. Throws 403 DEVICE_LIMIT_REACHED, and 403
 * DEVICE_QUARANTINED when the previous device is quarantined.
 */
export async function enroll(ctx: Context, input: EnrollInput): Promise<Enrolled> {
  const proven = input.reattachTo ? await lockOld(ctx, input.reattachTo, input.orgId) : null;
  if (proven) return reattach(ctx, proven, input);
  // A provisioned row counts against the limits already.
  if (!input.pendingDeviceId) await checkLimits(ctx, input.orgId);
  const { rows } = await ctx.sql<Match>(MATCH, [
    ...[
      input.orgId,
      storableText(input.machineId, 128) ?? null,
      storableText(input.hardware?.serialNumber, 255) ?? null,
    ],
    ...[storableText(input.hardware?.motherboardSerial, 255) ?? null, input.hostname],
    input.pendingDeviceId ?? null,
  ]);
  const match = rows[0] ?? null;
  if (input.pendingDeviceId) return completeProvisioned(ctx, input.pendingDeviceId, input, match);
  if (match?.strong && match.connectivity === 'offline') {
    const { reenroll } = await ctx.settings<{ reenroll: 'new' | 'reattach' }>('devices', input.orgId);
    const old = reenroll === 'reattach' ? await lockOld(ctx, match.id, input.orgId) : null;
    if (old) return reattach(ctx, old, input);
  }
  return insertDevice(ctx, input, match);
}

/**
 * Null when the old row cannot be used: it is in another organization, or decommissioned. An enrolling machine has no reach, so
 * the condition names the organization of the key.
 */
async function lockOld(ctx: Context, id: string, orgId: string): Promise<Device | null> {
  // reach: the enrollment key names the organization; platform role
  const old = await Device.query(ctx.trx).where({ orgId }).findById(id).forNoKeyUpdate();
  if (!old || old.lifecycle === 'decommissioned') return null;
  if (old.lifecycle === 'quarantined') throw errors.DeviceQuarantined();
  return old;
}

const described = (input: EnrollInput) => {
  const platform = input.virtualizationPlatform?.toLowerCase() ?? '';
  return {
    hostname: storableText(input.hostname, 255) ?? 'unknown',
    osVersion: storableText(input.osVersion, 100) ?? null,
    osBuild: storableText(input.osBuild, 100) ?? null,
    architecture: input.architecture ?? null,
    agentVersion: storableText(input.agentVersion, 50) ?? null,
    isVirtual: input.isVirtual ?? false,
    virtualizationPlatform: PLATFORMS.includes(platform) ? platform : null,
    machineId: storableText(input.machineId, 128) ?? null,
    enrollmentIp: storableText(input.ip, 45) ?? null,
    enrolledAt: new Date(),
    enrolledBy: input.enrolledBy ?? null,
    lifecycle: 'active' as const,
    updatedAt: new Date(),
  };
};
const roleOf = (input: EnrollInput) =>
  DEVICE_ROLES.includes(input.deviceRole ?? '') ? (input.deviceRole as string) : 'unknown';

/** Completes the row that was provisioned for this machine. The operating system must be the provisioned one. */
async function completeProvisioned(
  ctx: Context,
  id: string,
  input: EnrollInput,
  match: Match | null,
): Promise<Enrolled> {
  // reach: the enrollment key names the organization; platform role
  const device = await Device.query(ctx.trx)
    .patch({
      ...described(input),
      agentId: randomBytes(32).toString('hex'),
      possibleReplacementOfDeviceId: match?.id ?? null,
    } as Partial<Device>)
    .where({ id, orgId: input.orgId, osType: input.osType, lifecycle: 'pending' })
    .returning('*')
    .first();
  if (!device) throw errors.InvalidState();
  const role = roleOf(input);
  if (device.deviceRoleSource === 'agent' && role !== 'unknown') {
    // reach: the enrollment key names the organization; platform role
    await Device.query(ctx.trx).where({ id }).patch({ deviceRole: role });
  }
  return finish(ctx, device, input, match);
}

/** New devices are quarantined if the organization approves each of them. */
async function admission(ctx: Context, orgId: string) {
  const { approveEnrollments } = await ctx.settings<{ approveEnrollments: boolean }>('devices', orgId);
  if (!approveEnrollments) return {};
  return { lifecycle: 'quarantined', quarantinedAt: new Date(), quarantineReason: 'awaits approval' };
}

async function insertDevice(ctx: Context, input: EnrollInput, match: Match | null): Promise<Enrolled> {
  const { orgId, siteId, osType } = input;
  const row = {
    ...described(input),
    ...(await admission(ctx, orgId)),
    ...{ orgId, siteId, osType, deviceRole: roleOf(input), tags: [...(input.tags ?? [])] },
    agentId: randomBytes(32).toString('hex'),
    possibleReplacementOfDeviceId: match?.id ?? null,
  };
  // reach: the enrollment key names the organization; platform role
  const device = await Device.query(ctx.trx)
    .insert(row as Partial<Device>)
    .returning('*');
  return finish(ctx, device, input, match);
}

/** Keeps the row with its history, names and tags, and updates what the machine reports. */
async function reattach(ctx: Context, old: Device, input: EnrollInput): Promise<Enrolled> {
  // reach: the enrollment key names the organization; platform role
  const device = await Device.query(ctx.trx)
    .patch({
      ...described(input),
      ...(old.deviceRoleSource === 'agent' ? { deviceRole: roleOf(input) } : {}),
      agentId: old.agentId ?? randomBytes(32).toString('hex'),
      // The agent is installed again.
      uninstallIntentAt: null,
    } as Partial<Device>)
    .where({ id: old.id, orgId: old.orgId })
    .returning('*')
    .first();
  return finish(ctx, device as Device, input, 'reattach');
}

async function finish(ctx: Context, device: Device, input: EnrollInput, from: Match | null | 'reattach') {
  const { id: deviceId, orgId, siteId, hostname } = device;
  // reach: the enrollment key names the organization; platform role
  await ctx.sql(
    `insert into device_state (device_id, org_id, connectivity, last_seen_at, main_last_seen_at, last_seen_ip, lan_ip)
     values ($1, $2, $5::text, now(), now(), $3, $4)
     on conflict (device_id) do update set connectivity = $5::text, last_seen_at = now(), main_last_seen_at = now(),
       main_agent_silent_since = null, offline_held_at = null, updating_since = null, updating_to_version = null,
       last_seen_ip = excluded.last_seen_ip, lan_ip = coalesce(excluded.lan_ip, device_state.lan_ip)`,
    [
      deviceId,
      orgId,
      storableText(input.ip, 45) ?? null,
      storableText(primaryOf(input)?.ip, 45) ?? null,
      device.lifecycle === 'active' ? 'online' : 'offline',
    ],
  );
  if (input.hardware) await writeHardware(ctx, { id: deviceId, orgId }, input.hardware);
  if (input.network) await writeInterfaces(ctx, deviceId, orgId, input.network);
  const reattached = from === 'reattach';
  const via = reattached ? 'reattach' : input.via;
  ctx.audit('device.create', {
    orgId,
    resourceId: deviceId,
    resourceName: hostname,
    details: { via, ...(device.tags.length > 0 && !reattached ? { tags: device.tags } : {}) },
    actor: { kind: 'agent', id: deviceId },
  });
  const match = from === 'reattach' ? null : from;
  ctx.emit(
    deviceEnrolled,
    {
      hostname,
      via,
      // Readers of the event may reach the site of this device only.
      possibleReplacementOf: match?.siteId === siteId ? match.id : null,
      cloneSuspected: match?.strong === true && match.recent === true,
    },
    { orgId, siteId, deviceId },
  );
  ctx.notify('devices.changed', deviceId);
  return { deviceId, agentId: device.agentId as string, orgId, siteId, hostname, reattached };
}

const primaryOf = ({ network }: EnrollInput) => network?.find((one) => one.isPrimary) ?? network?.[0];

async function writeInterfaces(ctx: Context, deviceId: string, orgId: string, network: EnrollInput['network']) {
  const rows = (network ?? []).slice(0, 100).map(({ name, mac, ip, isPrimary }) => ({
    name: storableText(name, 255) ?? 'unknown',
    mac: storableText(mac, 64),
    v4: ip && !ip.includes(':') ? [ip] : [],
    v6: ip?.includes(':') ? [ip] : [],
    main: isPrimary === true,
  }));
  // reach: the enrollment key names the organization; platform role
  await ctx.sql(
    `insert into device_network_interfaces (device_id, org_id, name, mac_address, ipv4, ipv6, is_primary)
     select distinct on (name) $1, $2, name, mac, v4, v6, coalesce(main, false)
     from json_to_recordset($3::json) as n (name text, mac text, v4 text[], v6 text[], main boolean) order by name
     on conflict (device_id, name) do nothing`,
    [deviceId, orgId, JSON.stringify(rows)],
  );
}
