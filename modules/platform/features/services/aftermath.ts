/** Consequences of a committed switch: waiting commands are cancelled, and the hooks of the module run. */
import type { Context, ModulePlace } from '#core';
import { mustExist } from './registry.ts';

export interface Switched extends ModulePlace {
  key: string;
  enabled: boolean;
}

/** Whether the row still has that state; a switch that was reverted has a job of its own. */
async function stillSays(ctx: Context, { key, partnerId, orgId, enabled }: Switched): Promise<boolean> {
  const { rows } = partnerId
    ? await ctx.sql<{ enabled: boolean }>(
        `select enabled from tenant_modules where partner_id = $1 and org_id is not distinct from $2::uuid and key = $3`,
        [partnerId, orgId, key],
      )
    : await ctx.sql<{ enabled: boolean }>('select enabled from instance_modules where key = $1', [key]);
  // No row: the organization inherits again.
  return (rows[0]?.enabled ?? true) === enabled;
}

/** Throws, so that the job is retried, until this process has loaded the switch. Needs the platform's role. */
export async function followSwitch(ctx: Context, switched: Switched): Promise<void> {
  const { key, partnerId, orgId, enabled } = switched;
  const module = mustExist(ctx, key);
  if (!(await stillSays(ctx, switched))) return;
  const off = ctx.services.modules.off(key, { partnerId, orgId });
  if (!enabled) {
    if (!off) throw new Error(`this process has not loaded yet that ${key} is off`);
    if (module.commands) await ctx.use('device-commands').cancelWaitingCommands(module.commands, { partnerId, orgId });
    await module.onDisable?.(ctx, { partnerId, orgId });
    return;
  }
  if (off?.startsWith('disabled_by')) throw new Error(`this process has not loaded yet that ${key} is on`);
  if (!off) await module.onEnable?.(ctx, { partnerId, orgId });
}
