/** Reports that agents send from time to time: the latest of each kind, as received. */
import { type Context, errors } from '#core';
import type { Report, ReportKind } from '../../models/snapshots.ts';
import { mustExist } from '../devices.ts';
import { replaceAddresses } from './snapshot-rows.ts';

/** One statement: parts with a known hash stay as they are, sources that were not queried are not changed. */
// reach: the agent's own device, which its token names
const WRITE = `
insert into device_reports as r (device_id, org_id, kind, source, body, hash)
select d.id, d.org_id, $2, p.source, p.body, $4
from devices d cross join json_to_recordset($3::json) as p (source text, body jsonb) where d.id = $1
order by p.source
on conflict (device_id, kind, source) do update set body = excluded.body, hash = excluded.hash, taken_at = now()
where $5::boolean and (r.hash <> excluded.hash or excluded.hash = '')
returning 1`;

/** Stores the latest report of a kind. @returns changed: false when every part is already stored */
export async function submitReport(ctx: Context, deviceId: string, report: Report): Promise<{ changed: boolean }> {
  const { kind, parts, snapshotHash = '' } = report;
  const rows = parts.map(({ source = '', body }) => ({ source: source.slice(0, 50), body }));
  const values = [deviceId, kind, JSON.stringify(rows), snapshotHash.slice(0, 128), report.whole];
  const { rowCount } = await ctx.sql(WRITE, values);
  return { changed: (rowCount ?? 0) > 0 };
}

/** Records the addresses that a heartbeat reports; repeats only renew when they were last seen. */
export async function noteAddresses(ctx: Context, deviceId: string, addresses: readonly string[]): Promise<void> {
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<{ id: string; orgId: string }>(
    'select id, org_id as "orgId" from devices where id = $1',
    [deviceId],
  );
  if (rows[0]) await replaceAddresses(ctx, rows[0], addresses);
}

/** The report of one kind; without a kind, a list of the reports with their times. Throws 404 for a device out of reach. */
export async function readReports(ctx: Context, deviceId: string, kind: ReportKind | undefined) {
  await mustExist(ctx, deviceId);
  // reach: mustExist above checks the device
  const { rows } = await ctx.sql<{ kind: string; source: string; takenAt: Date; body?: object }>(
    `select kind, source, taken_at as "takenAt"${kind ? ', body' : ''} from device_reports
     where device_id = $1 and kind = coalesce($2, kind) order by kind, source`,
    [deviceId, kind ?? null],
  );
  if (kind && rows.length === 0) throw errors.NotFound('The agent has not reported this');
  return { data: { deviceId, parts: rows.map(({ source, ...part }) => ({ source: source || null, ...part })) } };
}
