/** The slot `device-groups.usage`: modules whose objects have device groups as targets. */
import type { Context } from '#core';

export interface GroupUsage {
  kind: 'policies' | 'alertRules' | 'automations' | 'maintenanceWindows' | 'deployments';
  /** The number of objects that refer to the group, visible to the caller or not. */
  count(ctx: Context, groupId: string): Promise<number>;
  /** Removes the group from those objects. Disables an object without any other target: no target never means all devices. */
  release(ctx: Context, groupId: string): Promise<void>;
}
