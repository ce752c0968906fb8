/** What other modules can call: `ctx.use('device-groups')`. */
import { type BoundApi, defineApi } from '#core';
import { membersOf } from './services/group-lists.ts';
import { groupsOf } from './services/members/member-lists.ts';
import { known, missing } from './services/reach.ts';

export const api = defineApi({ membersOf, groupsOf, known, missing });

declare module '#core/contract' {
  interface Apis {
    'device-groups': BoundApi<typeof api>;
  }
}
