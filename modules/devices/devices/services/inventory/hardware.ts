/** The hardware of a machine. */
import type { Context } from '#core';
import type { HardwareFields } from '../../models/snapshots.ts';
import { storableText } from '../../models/storable-text.ts';

const whole = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < 2 ** 31 ? Math.round(value) : null;
const real = (value: number | null | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < 1e15 ? value : null;

/** Columns by the names that the API gives them. */
const COLUMNS: Readonly<Record<string, string>> = {
  ...{ manufacturer: 'manufacturer', model: 'model', serialNumber: 'serial_number' },
  ...{ motherboardSerial: 'motherboard_serial', cpuModel: 'cpu_model', cpuCores: 'cpu_cores' },
  ...{ cpuThreads: 'cpu_threads', gpuModel: 'gpu_model', ramTotalMb: 'ram_total_mb' },
  ...{ diskTotalGb: 'disk_total_gb', biosVersion: 'bios_version' },
};
const DIFFERENCES = Object.entries(COLUMNS)
  .map(([name, column]) => `('${name}', was.${column} is distinct from made.${column})`)
  .join(', ');

/**
 * Replaces the whole row; a change of memory is added to the history of the device.
 * @returns the names of the fields that differ from what was reported before; none for the first report
 */
export async function writeHardware(
  ctx: Context,
  device: { id: string; orgId: string },
  body: HardwareFields,
): Promise<string[]> {
  const text = (value: unknown) => storableText(value, 255) ?? null;
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<{ changed: string[] }>(
    `with was as (select * from device_hardware where device_id = $1),
     noted as (
       insert into device_changes (device_id, org_id, field, before, after)
       select $1, $2, 'ramTotalMb', ram_total_mb::text, $11::bigint::text from was
       where ram_total_mb <> $11::bigint),
     made as (
     insert into device_hardware (device_id, org_id, manufacturer, model, serial_number, motherboard_serial, cpu_model,
       cpu_cores, cpu_threads, gpu_model, ram_total_mb, disk_total_gb, bios_version)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict (device_id) do update set manufacturer = excluded.manufacturer, model = excluded.model,
       serial_number = excluded.serial_number, motherboard_serial = excluded.motherboard_serial,
       cpu_model = excluded.cpu_model, cpu_cores = excluded.cpu_cores, cpu_threads = excluded.cpu_threads,
       gpu_model = excluded.gpu_model, ram_total_mb = excluded.ram_total_mb, disk_total_gb = excluded.disk_total_gb,
       bios_version = excluded.bios_version, updated_at = now()
     returning *)
     select array(select f.field from was, made, lateral (values ${DIFFERENCES}) f (field, differs) where f.differs) as changed`,
    [
      ...[device.id, device.orgId, text(body.manufacturer), text(body.model), text(body.serialNumber)],
      ...[text(body.motherboardSerial), text(body.cpuModel), whole(body.cpuCores), whole(body.cpuThreads)],
      ...[text(body.gpuModel), whole(body.ramTotalMb), real(body.diskTotalGb), text(body.biosVersion)],
    ],
  );
  return rows[0]?.changed ?? [];
}
