/** Whose device it is and how it stands: what authenticating an agent needs, for many at once. */
import type { Context } from '#core';
import type { DeviceIdentity } from '../../types/device.ts';

/** Needs the platform role: who calls is not known yet. */
export async function identify(ctx: Context, deviceIds: string[]): Promise<DeviceIdentity[]> {
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
