/** Refuses commands that restart, shut down or lock a device where a setting or the agent of the device does not allow them. */
import { POWER_COMMANDS } from '#agent-protocol';
import type { Context } from '#core';

export interface PowerSettings {
  powerCommands: boolean;
}

const POWER_TYPES: ReadonlySet<string> = new Set(POWER_COMMANDS);

/** Who does not allow power commands: a setting of the organization or partner, or the installation of the agent. */
export type PowerBlock = 'setting' | 'agent';

/** Of these devices the ones that will not carry out a command of this type, and why; empty for other commands. */
export async function powerBlocks(
  ctx: Context,
  devices: readonly { id: string; orgId: string }[],
  type: string,
): Promise<Map<string, PowerBlock>> {
  if (!POWER_TYPES.has(type) || devices.length === 0) return new Map();
  const offOrgs = new Set<string>();
  // A restart that was scheduled before the setting changed can still be cancelled.
  if (type !== 'cancel_reboot') {
    for (const orgId of new Set(devices.map((device) => device.orgId))) {
      const { powerCommands } = await ctx.settings<PowerSettings>('device-commands', orgId);
      if (!powerCommands) offOrgs.add(orgId);
    }
  }
  const refusing = await ctx.use('devices').refusingPower(devices.map(({ id }) => id));
  return new Map(
    devices.flatMap(({ id, orgId }): [string, PowerBlock][] =>
      offOrgs.has(orgId) ? [[id, 'setting']] : refusing.has(id) ? [[id, 'agent']] : [],
    ),
  );
}
