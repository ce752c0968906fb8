/** Identities of devices, for the authentication of agents: many in one statement. */
import type { Context } from '#core';
import type { Lifecycle } from '../../models/device.ts';

/** What the authentication of an agent needs to know about its device. */
export interface DeviceIdentity {
  deviceId: string;
  agentId: string | null;
  orgId: string;
  siteId: string;
  partnerId: string;
  hostname: string;
  lifecycle: Lifecycle;
  decommissionedAt: Date | null;
  uninstallRequestedAt: Date | null;
  orgActive: boolean;
  partnerActive: boolean;
}

/** Identities for authentication; unknown devices are left out. Platform role: the caller is not known yet. */
export async function identify(ctx: Context, deviceIds: string[]): Promise<DeviceIdentity[]> {
  // reach: platform role: the caller is not known yet
  const { rows } = await ctx.sql<DeviceIdentity>(
    `select d.id as "deviceId", d.agent_id as "agentId", d.org_id as "orgId", d.site_id as "siteId",
       o.partner_id as "partnerId", d.hostname, d.lifecycle, d.decommissioned_at as "decommissionedAt",
       d.uninstall_requested_at as "uninstallRequestedAt",
       o.status in ('active', 'trial') and o.deleted_at is null as "orgActive",
       p.status = 'active' and p.deleted_at is null as "partnerActive"
     from devices d join organizations o on o.id = d.org_id join partners p on p.id = o.partner_id
     where d.id = any($1::uuid[])`,
    [deviceIds],
    'devices-identify',
  );
  return rows;
}
