/** Device groups: chosen by hand or by a filter, followed as devices change, and a limit of what people see. */
import { type Context, defineModule } from '#core';
import { membersOf } from './services/group-lists.ts';
import { groupsOf } from './services/members/member-lists.ts';
import { missing } from './services/reach.ts';

const api = (ctx: Context) => ({
  /** The members of each of these groups that the caller sees, sorted. */
  membersOf: (groupIds: readonly string[]) => membersOf(ctx, groupIds),
  /** The groups of each of these devices that the caller sees. */
  groupsOf: (deviceIds: readonly string[]) => groupsOf(ctx, deviceIds),
  /** Those of the ids that are no group of the organization. */
  missing: (orgId: string, ids: readonly string[]) => missing(ctx, orgId, ids),
});

declare module '#core/contract' {
  interface Apis {
    'device-groups': ReturnType<typeof api>;
  }
  interface Events {
    /** At most 1000 of each; a larger change is several events. What devices that leave leave behind is not told here. */
    'device-groups.membership.changed': {
      groupId: string;
      evaluationId: string | null;
      added: string[];
      removed: string[];
    };
    /** More than half of a group went by itself, after it was held back for a cycle. */
    'device-groups.mass_change': { groupId: string; name: string; removed: number; of: number };
    /** Its filter could not be evaluated three times; its members stay as they were. */
    'device-groups.evaluation.failed': { groupId: string; name: string; error: string };
  }
}

export default defineModule({
  name: 'device-groups',
  title: 'Device groups',
  summary: 'Groups of devices: chosen by hand or by a filter, and a limit of what people see',
  requires: ['tenancy', 'devices', 'filters'],
  default: 'on',
  events: ['device-groups.membership.changed', 'device-groups.mass_change', 'device-groups.evaluation.failed'],
  objects: { 'device groups': 'device_groups' },
  api,
});
