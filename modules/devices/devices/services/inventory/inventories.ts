/** Snapshots that agents send: an equal one writes nothing, a different one replaces the stored rows in one statement. */

import type { Snapshot } from '#agent-protocol';
import { type Context, errors } from '#core';
import hardwareChanged from '../../events/hardware/changed.ts';
import softwareChanged from '../../events/software/changed.ts';
import type { DisksBody, HardwareBody, NetworkBody, ServicesBody, SoftwareBody } from '../../models/snapshots.ts';
import { storableText } from '../../models/storable-text.ts';
import { writeHardware } from './hardware.ts';
import { type Rows, replaceAddresses, replaceRows } from './snapshot-rows.ts';

interface Owner {
  id: string;
  orgId: string;
  siteId: string;
}
type Kind = 'hardware' | 'network' | 'disks' | 'software' | 'services';

/**
 * Runs `write` unless the hash is known. An empty list replaces a stored one only when the agent marks it complete. Throws 404
 * for an unknown device.
 */
async function submit(
  ctx: Context,
  deviceId: string,
  kind: Kind,
  body: Snapshot,
  rows: Rows | null,
  write: (owner: Owner) => Promise<void>,
): Promise<{ changed: boolean }> {
  // reach: the agent's own device, which its token names
  const { rows: found } = await ctx.sql<Owner & { hash: string | null }>(
    `select d.id, d.org_id as "orgId", d.site_id as "siteId", s.hash from devices d
     left join device_snapshots s on s.device_id = d.id and s.kind = $2 where d.id = $1`,
    [deviceId, kind],
    'devices-snapshot',
  );
  const owner = found[0];
  if (!owner) throw errors.NotFound('Device not found');
  const hash = body.snapshotHash?.slice(0, 128) ?? '';
  if ((hash !== '' && owner.hash === hash) || (rows?.length === 0 && body.complete !== true)) return { changed: false };
  // Also serializes two snapshots of one kind; the second may find that the first has written it.
  // reach: the agent's own device, which its token names
  const { rowCount } = await ctx.sql(
    `insert into device_snapshots as s (device_id, org_id, kind, hash) values ($1, $2, $3, $4)
     on conflict (device_id, kind) do update set hash = excluded.hash, taken_at = now()
     where s.hash <> excluded.hash or excluded.hash = ''`,
    [deviceId, owner.orgId, kind, hash],
  );
  if (rowCount === 0) return { changed: false };
  await write(owner);
  return { changed: true };
}

/** @returns changed: false for a snapshot that is already stored */
export function submitHardware(ctx: Context, deviceId: string, body: HardwareBody): Promise<{ changed: boolean }> {
  return submit(ctx, deviceId, 'hardware', body, null, async (owner) => {
    const fields = await writeHardware(ctx, owner, body);
    if (fields.length > 0)
      ctx.emit(hardwareChanged, { fields }, { orgId: owner.orgId, siteId: owner.siteId, deviceId });
    const [version, build] = [storableText(body.osVersion, 100) ?? null, storableText(body.osBuild, 100) ?? null];
    // reach: the agent's own device, which its token names
    await ctx.sql(
      `with was as (
         select id, org_id, os_version, os_build from devices where id = $1
           and (coalesce($2, os_version), coalesce($3, os_build)) is distinct from (os_version, os_build)
         for no key update),
       noted as (
         insert into device_changes (device_id, org_id, field, before, after)
         select was.id, was.org_id, f.field, f.before, f.after
         from was cross join lateral (values ('osVersion', was.os_version, $2::text), ('osBuild', was.os_build, $3::text))
           as f (field, before, after) where f.after is not null and f.before is distinct from f.after)
       update devices d set os_version = coalesce($2, d.os_version), os_build = coalesce($3, d.os_build), updated_at = now()
       from was where d.id = was.id`,
      [deviceId, version, build],
    );
  });
}

const address = (text: string) => storableText(text, 45) ?? '';

export function submitNetwork(ctx: Context, deviceId: string, body: NetworkBody): Promise<{ changed: boolean }> {
  const rows = body.adapters.slice(0, 100).map((one) => ({
    name: storableText(one.name, 255) ?? 'unknown',
    mac_address: storableText(one.mac, 64),
    ipv4: (one.ipv4 ?? []).slice(0, 50).map(address),
    ipv6: (one.ipv6 ?? []).slice(0, 50).map(address),
    is_primary: one.isPrimary === true,
    public_ip: storableText(one.publicIp, 45),
  }));
  return submit(ctx, deviceId, 'network', body, rows, async (owner) => {
    await replaceRows(ctx, owner, 'device_network_interfaces', rows, body.complete);
    await replaceAddresses(
      ctx,
      owner,
      rows.flatMap(({ ipv4, ipv6 }) => [...ipv4, ...ipv6]),
    );
    const lan = rows.find((row) => row.is_primary)?.ipv4[0];
    // reach: the agent's own device, which its token names
    if (lan) await ctx.sql('update device_state set lan_ip = $2 where device_id = $1', [deviceId, lan]);
  });
}

export function submitDisks(ctx: Context, deviceId: string, body: DisksBody): Promise<{ changed: boolean }> {
  const real = (value: number | null | undefined) =>
    typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1e15 ? value : null;
  const rows = body.disks.slice(0, 100).map((one) => ({
    mount_point: storableText(one.mountPoint, 500) ?? 'unknown',
    device: storableText(one.device, 255),
    fs_type: storableText(one.fsType, 50),
    total_gb: real(one.totalGb),
    used_gb: real(one.usedGb),
    free_gb: real(one.freeGb),
    used_percent: real(one.usedPercent),
    health: storableText(one.health, 50),
  }));
  return submit(ctx, deviceId, 'disks', body, rows, async (owner) => {
    await replaceRows(ctx, owner, 'device_disks', rows, body.complete);
  });
}

export function submitSoftware(ctx: Context, deviceId: string, body: SoftwareBody): Promise<{ changed: boolean }> {
  const rows = body.software.slice(0, 10_000).map((one) => ({
    name: storableText(one.name, 255) ?? 'unknown',
    version: storableText(one.version, 100) ?? '',
    vendor: storableText(one.vendor, 255),
    install_date: storableText(one.installDate, 50),
    install_location: storableText(one.installLocation, 1000),
    uninstall_string: storableText(one.uninstallString, 2000),
  }));
  return submit(ctx, deviceId, 'software', body, rows, async (owner) => {
    const { added, removed } = await replaceRows(ctx, owner, 'device_software', rows, body.complete);
    const about = { orgId: owner.orgId, siteId: owner.siteId, deviceId };
    if (added + removed > 0) ctx.emit(softwareChanged, { added, removed }, about);
  });
}

export function submitServices(ctx: Context, deviceId: string, body: ServicesBody): Promise<{ changed: boolean }> {
  const rows = body.services.slice(0, 5000).map((one) => ({
    name: storableText(one.name, 255) ?? 'unknown',
    display_name: storableText(one.displayName, 255),
    state: storableText(one.state, 30) ?? 'unknown',
    start_type: storableText(one.startType, 30),
  }));
  return submit(ctx, deviceId, 'services', body, rows, async (owner) => {
    await replaceRows(ctx, owner, 'device_services', rows, body.complete);
  });
}
