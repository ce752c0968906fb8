/** Deletes the names in software_names (migrations/001-devices.sql) that no device reports any more. Platform role. */
import type { Context } from '#core';

/**
 * Snapshots that are being written wait meanwhile, and those under way are waited for: a name must not go while somebody
 * is about to use it.
 */
export async function pruneSoftwareNames(ctx: Context): Promise<void> {
  await ctx.sql('lock table software_names in share row exclusive mode');
  // reach: retention by the platform role; names, not devices
  await ctx.sql('delete from software_names n where not exists (select from device_software w where w.name = n.name)');
}
