/** Deletes a device: a limited number of rows at a time, those of other modules first, the device itself last. */
import { type Context, errors } from '#core';
import devicePurged from '../../events/purged.ts';
import { Device } from '../../models/device.ts';
import { mustExist } from '../devices.ts';
import { RESTORABLE_DAYS } from './lifecycles.ts';
import { about, named, notIn } from './transitions.ts';

/** Rows of one table that one statement deletes, and statements of one run of the job. */
const MAX_ROWS = 1000;
const MAX_STATEMENTS = 20;
/** Devices whose purge one sweep starts. */
const MAX_DEVICES = 500;

/** Tables with many rows. All other tables are emptied by foreign keys when the device is deleted. */
const CHILDREN = ['device_changes', 'device_ip_history', 'device_software', 'device_services'];

/** Queues the purge of a decommissioned device, which cannot be undone. Throws 400 unless `confirm` is its host name. */
export async function requestPurge(ctx: Context, id: string, confirm: string | undefined): Promise<{ success: true }> {
  const device = await mustExist(ctx, id);
  if (device.lifecycle !== 'decommissioned') throw notIn(device.lifecycle, ['decommissioned']);
  if (confirm !== device.hostname) {
    const message = '"confirm" must be the host name of the device';
    throw errors.ValidationFailed({ message, details: [{ in: 'query', path: 'confirm', message }] });
  }
  // reach: mustExist above checks the device
  const { rowCount } = await ctx.sql(
    `update devices set purge_requested_at = coalesce(purge_requested_at, now()) where id = $1 and lifecycle = 'decommissioned'`,
    [id],
  );
  if (rowCount === 0) throw notIn((await mustExist(ctx, id)).lifecycle, ['decommissioned']);
  const details = { mode: 'purge', requested: true, lifecycle: device.lifecycle };
  ctx.audit('device.delete', { ...named(device), details });
  queue(ctx, device);
  return { success: true };
}

const queue = (ctx: Context, { id, orgId }: Pick<Device, 'id' | 'orgId'>): void =>
  ctx.addJob('devices/purge-device', { deviceId: id }, { key: `devices-purge:${id}`, orgId });

/** Starts the purge of devices that can no longer be restored, and repeats purges that did not finish. Platform role. */
export async function sweepPurges(ctx: Context): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  const { rows } = await ctx.sql<Pick<Device, 'id' | 'orgId'>>(
    `with due as (
       select id from devices where lifecycle = 'decommissioned'
         and (decommissioned_at < now() - make_interval(days => $1) or purge_requested_at < now() - interval '1 day')
       order by decommissioned_at limit $2
       for no key update skip locked)
     update devices d set purge_requested_at = coalesce(purge_requested_at, now()) from due where d.id = due.id
     returning d.id, d.org_id as "orgId"`,
    [RESTORABLE_DAYS, MAX_DEVICES],
  );
  for (const device of rows) queue(ctx, device);
}

/** Deletes some rows, and adds itself again until the device is deleted. Repeats find fewer rows. Platform role. */
export async function purgeDevice(ctx: Context, id: string): Promise<void> {
  // reach: purge by the platform role, of a device that was checked when it was requested
  const device = await Device.query(ctx.trx).findById(id).whereNotNull('purgeRequestedAt').forUpdate();
  if (device?.lifecycle !== 'decommissioned') return;
  let left = MAX_STATEMENTS;
  const clear = async (remove: () => Promise<number>): Promise<void> => {
    while (left > 0) {
      left -= 1;
      if ((await remove()) < MAX_ROWS) return;
    }
  };
  for (const { purged } of ctx.contributions('devices.follower')) {
    if (purged) await clear(() => purged(ctx, id, MAX_ROWS));
  }
  for (const table of CHILDREN) await clear(() => removeSome(ctx, table, id));
  if (left <= 0) return queue(ctx, device);
  // reach: purge by the platform role, of a device that was checked when it was requested
  await ctx.sql('delete from devices where id = $1', [id]);
  const details = { mode: 'purge' };
  ctx.audit('device.delete', { ...named(device), details });
  ctx.emit(devicePurged, { hostname: device.hostname }, about(device));
  ctx.notify('devices.changed', id);
}

async function removeSome(ctx: Context, table: string, id: string): Promise<number> {
  // reach: purge by the platform role, of a device that was checked when it was requested
  const { rowCount } = await ctx.sql(
    `delete from ${table} where device_id = $1
       and (tableoid, ctid) in (select tableoid, ctid from ${table} where device_id = $1 limit $2)`,
    [id, MAX_ROWS],
  );
  return rowCount ?? 0;
}
