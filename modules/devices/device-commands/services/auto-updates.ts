/** Switches the automatic updates of an agent on or off. */
import { type Context, errors } from '#core';
import { insertCommand } from './queue.ts';

/**
 * Stores the setting and queues the command that carries it out. The newest setting counts: earlier commands are cancelled, and
 * what the heartbeat reports confirms it. Throws 404, 409 INVALID_STATE unless the device is active.
 */
export async function setAutoUpdate(ctx: Context, id: string, enabled: boolean) {
  const device = await ctx.use('devices').hold(id, 'no key update');
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  if (device.autoUpdateEnabled === enabled && device.autoUpdateConfirmedAt !== null) {
    ctx.unchanged();
    return { deviceId: id, enabled, confirmed: true };
  }
  await ctx.use('devices').wishAutoUpdate([id], enabled);
  // reach: the device is held above, which checks it
  await ctx.sql(
    `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}'
     where device_id = $1 and dedup_key = 'set_auto_update' and status in ('pending', 'sent', 'running')`,
    [id],
  );
  const command = await insertCommand(ctx, device, {
    type: 'set_auto_update',
    payload: { enabled },
    dedupKey: 'set_auto_update',
    deliverBy: new Date(Date.now() + 86_400_000),
    source: 'system',
  });
  ctx.audit('device.auto_update.set', {
    orgId: device.orgId,
    resourceId: id,
    resourceName: device.hostname,
    details: { enabled, commandId: command.id },
  });
  return { deviceId: id, enabled, confirmed: false };
}
