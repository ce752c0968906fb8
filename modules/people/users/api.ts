/** What other modules may ask of users: `ctx.use('users')`. All of it needs the platform's role. */
import { type BoundApi, defineApi } from '#core';
import { takeInvitation } from './services/acceptances.ts';
import { addMember } from './services/provisions.ts';
import { removeMember } from './services/removals.ts';

export const api = defineApi({ takeInvitation, addMember, removeMember });

declare module '#core/contract' {
  interface Apis {
    users: BoundApi<typeof api>;
  }
}
