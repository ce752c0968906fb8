/** What follows from a switch once it is committed: waiting commands are cancelled, and the module does its own. */
import type { Context, ModulePlace } from '#core';
import { mustExist } from './registry.ts';

export interface Switched extends ModulePlace {
  key: string;
  enabled: boolean;
}

/** Whether the row still says what it said then; a switch that was turned back has had its own job. */
async function stillSays(ctx: Context, { key, partnerId, orgId, enabled }: Switched): Promise<boolean> {
  const { rows } = partnerId
    ? await ctx.sql<{ enabled: boolean }>(
        `select enabled from tenant_modules where partner_id = $1 and org_id is not distinct from $2::uuid and key = $3`,
        [partnerId, orgId, key],
      )
    : await ctx.sql<{ enabled: boolean }>('select enabled from instance_modules where key = $1', [key]);
  // No row: an organization that inherits again.
  return (rows[0]?.enabled ?? true) === enabled;
}

/** Throws, to be tried again, while this process has not read the switch yet. Platform's role. */
export async function followSwitch(ctx: Context, switched: Switched): Promise<void> {
  const { key, partnerId, orgId, enabled } = switched;
  const module = mustExist(ctx, key);
  if (!(await stillSays(ctx, switched))) return;
  const off = ctx.services.modules.off(key, { partnerId, orgId });
  if (!enabled) {
    if (!off) throw new Error(`that ${key} is off has not been heard here yet`);
    if (module.commands) await ctx.use('device-commands').cancelWaitingCommands(module.commands, { partnerId, orgId });
    await module.onDisable?.(ctx, { partnerId, orgId });
    return;
  }
  if (off?.startsWith('disabled_by')) throw new Error(`that ${key} is on has not been heard here yet`);
  if (!off) await module.onEnable?.(ctx, { partnerId, orgId });
}
