/** Maintenance mode of one device, which ends by itself after seven days at most. */
import { type Context, errors } from '#core';
import maintenanceEnded from '../../events/maintenance/ended.ts';
import maintenanceStarted from '../../events/maintenance/started.ts';
import type { Device } from '../../models/device.ts';
import type { MaintenanceRequest } from '../../models/maintenance-mode.ts';
import { mustExist } from '../devices.ts';
import { about, named, notIn } from './transitions.ts';

const MAX_MINUTES = 7 * 1440;
/** Devices whose maintenance one sweep ends. */
const MAX_DEVICES = 1000;

function endOf({ until, minutes }: MaintenanceRequest): Date {
  const end = until ? new Date(until) : new Date(Date.now() + (minutes ?? 60) * 60_000);
  const ahead = end.getTime() - Date.now();
  if (ahead > 0 && ahead <= MAX_MINUTES * 60_000) return end;
  const message = '"until" must lie in the coming seven days';
  throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'until', message }] });
}

/** Begins maintenance or changes its end. Throws 409 INVALID_STATE unless the device is active. */
export async function startMaintenance(ctx: Context, id: string, request: MaintenanceRequest): Promise<void> {
  const until = endOf(request);
  const reason = request.reason ?? null;
  const before = await mustExist(ctx, id);
  const device = await write(ctx, id, until, reason);
  if (!device) throw notIn(before.lifecycle, ['active']);
  const details = { until: until.toISOString(), reason, before: before.maintenanceUntil };
  ctx.audit('device.maintenance.start', { ...named(before), details });
  ctx.emit(maintenanceStarted, { hostname: before.hostname, until: until.toISOString() }, about(before));
}

/** Throws 409 INVALID_STATE unless the device is in maintenance of its own. */
export async function endMaintenance(ctx: Context, id: string): Promise<void> {
  const device = await mustExist(ctx, id);
  if (!device.maintenanceUntil || device.maintenanceUntil <= new Date()) throw notIn('none', ['maintenance']);
  const written = await write(ctx, id, null, null);
  if (!written) throw notIn(device.lifecycle, ['active']);
  ctx.audit('device.maintenance.end', named(device));
  ctx.emit(maintenanceEnded, { hostname: device.hostname }, about(device));
}

async function write(ctx: Context, id: string, until: Date | null, reason: string | null): Promise<boolean> {
  // reach: mustExist checks the device in both callers
  const { rowCount } = await ctx.sql(
    `update devices set maintenance_until = $2, maintenance_reason = $3, updated_at = now()
     where id = $1 and lifecycle = 'active'`,
    [id, until, reason],
  );
  return rowCount === 1;
}

/** Clears maintenance that is over, so that lists of changes include the device. Platform role. */
export async function sweepMaintenance(ctx: Context): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  const { rows } = await ctx.sql<Pick<Device, 'id' | 'orgId' | 'siteId' | 'hostname'>>(
    `with due as (
       select id from devices where maintenance_until <= now() order by id limit ${MAX_DEVICES} for no key update skip locked)
     update devices d set maintenance_until = null, maintenance_reason = null from due
     where d.id = due.id and d.maintenance_until <= now()
     returning d.id, d.org_id as "orgId", d.site_id as "siteId", d.hostname`,
  );
  for (const { id, orgId, siteId, hostname } of rows) {
    ctx.emit(maintenanceEnded, { hostname }, { orgId, siteId, deviceId: id });
  }
}
