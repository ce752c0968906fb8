/** The slot `device-groups.usage`: whoever names groups as targets says so. */
import type { Context } from '#core';

export interface GroupUsage {
  kind: 'policies' | 'alertRules' | 'automations' | 'maintenanceWindows' | 'deployments';
  /** How many objects name the group, seen by the caller or not. */
  count(ctx: Context, groupId: string): Promise<number>;
  /** Takes the group out of them. What would be left without any target is switched off: no target never means all. */
  release(ctx: Context, groupId: string): Promise<void>;
}
