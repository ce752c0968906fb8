/** Deletes commands: old ones, and those of purged devices. Platform role. */
import type { Context } from '#core';

const MAX_ROWS = 10_000;
const RETENTION_DAYS = 90;

/** Deletes ended commands after 90 days, at most 10,000 in one transaction; true when there may be more. */
export async function pruneCommands(ctx: Context): Promise<boolean> {
  // reach: retention by the platform role, for all organizations
  const { rowCount } = await ctx.sql(
    `delete from device_commands where id in (select id from device_commands
       where created_at < now() - make_interval(days => ${RETENTION_DAYS}) and status not in ('pending', 'sent', 'running')
       order by created_at limit ${MAX_ROWS})`,
  );
  return (rowCount ?? 0) >= MAX_ROWS;
}

/** Deletes at most `maxRows` commands of a device, and returns how many. */
export async function removeCommands(ctx: Context, deviceId: string, maxRows: number): Promise<number> {
  // reach: purge by the platform role, of a device that was checked when it was requested
  const { rowCount } = await ctx.sql(
    `delete from device_commands where device_id = $1
       and ctid in (select ctid from device_commands where device_id = $1 limit $2)`,
    [deviceId, maxRows],
  );
  return rowCount ?? 0;
}

/** Moves at most `maxRows` ended commands of a merged device to the remaining one; true when commands are left. */
export async function takeOverCommands(
  ctx: Context,
  { orgId, fromDeviceId, intoDeviceId }: { orgId: string; fromDeviceId: string; intoDeviceId: string },
  maxRows: number,
): Promise<boolean> {
  // reach: merge by the platform role, of devices that were checked when it was requested
  const { rowCount } = await ctx.sql(
    `update device_commands set device_id = $2 where id in (
       select id from device_commands where device_id = $1 and org_id = $4
         and status not in ('pending', 'sent', 'running') limit $3)`,
    [fromDeviceId, intoDeviceId, maxRows, orgId],
  );
  return (rowCount ?? 0) >= maxRows;
}
