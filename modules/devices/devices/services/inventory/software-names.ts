/** Deletes the names in software_names (migrations/001-devices.sql) that no device reports any more. Platform role. */
import type { Context } from '#core';

/** Locks out writers of snapshots, because a name must not be deleted while a snapshot is about to refer to it. */
export async function pruneSoftwareNames(ctx: Context): Promise<void> {
  await ctx.sql('lock table software_names in share row exclusive mode');
  // reach: retention by the platform role; names, not devices
  await ctx.sql('delete from software_names n where not exists (select from device_software w where w.name = n.name)');
}
