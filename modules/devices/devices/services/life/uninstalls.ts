/** Agents that are removed: by hand, which decommissions the device if the organization has set so, or by a command. */
import { type Context, errors } from '#core';
import { decommission } from './lifecycles.ts';

/** Devices that one run of the job decommissions. */
const MAX_DEVICES = 500;

/** Records that the agent is being removed by hand; repeats keep the first time. False when it was recorded before. */
export async function noteUninstallIntent(ctx: Context, deviceId: string): Promise<boolean> {
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<{ orgId: string; hostname: string; known: boolean }>(
    `with was as (select id, org_id, hostname, uninstall_intent_at from devices where id = $1 for no key update),
     noted as (update devices d set uninstall_intent_at = now() from was where d.id = was.id and was.uninstall_intent_at is null)
     select org_id as "orgId", hostname, uninstall_intent_at is not null as known from was`,
    [deviceId],
  );
  const device = rows[0];
  if (!device) throw errors.NotFound('Device not found');
  if (device.known) return false;
  const { orgId, hostname } = device;
  ctx.audit('agent.uninstall.intent', { orgId, resourceType: 'device', resourceId: deviceId, resourceName: hostname });
  return true;
}

/** Records that the agent has carried out the command to remove itself. */
export async function confirmUninstall(ctx: Context, deviceId: string): Promise<void> {
  // reach: the agent's own device, which its token names
  await ctx.sql('update devices set uninstall_confirmed_at = now() where id = $1', [deviceId]);
}

/**
 * Decommissions devices whose agent was uninstalled a day ago and has not reported since, if the organization, else its partner,
 * has set `autoDecommissionOnUninstall`. Platform role.
 */
export async function decommissionUninstalled(ctx: Context): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  const { rows } = await ctx.sql<{ id: string }>(
    `select d.id from devices d join device_state s on s.device_id = d.id
       join organizations o on o.id = d.org_id join partners p on p.id = o.partner_id
     where d.uninstall_intent_at < now() - interval '24 hours' and d.lifecycle in ('active', 'quarantined')
       and s.last_seen_at < now() - interval '24 hours'
       and coalesce(o.settings #>> '{devices,autoDecommissionOnUninstall}',
         p.settings #>> '{devices,autoDecommissionOnUninstall}') = 'true'
     order by d.id limit $1 for no key update of d skip locked`,
    [MAX_DEVICES],
  );
  // Without a command to uninstall: the agent is already gone.
  for (const { id } of rows) {
    await decommission(ctx, id, { mode: 'uninstall', uninstall: false, from: ['active', 'quarantined'] });
  }
}
