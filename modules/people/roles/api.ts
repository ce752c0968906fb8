/** What other modules may ask of roles: `ctx.use('roles')`. Also works on the platform's role: the tenant is an argument. */
import { type BoundApi, defineApi } from '#core';
import { assignable, mustAssign } from './services/assignments.ts';
import { permissionsOf } from './services/permissions.ts';

export const api = defineApi({ mustAssign, assignable, permissionsOf });

declare module '#core/contract' {
  interface Apis {
    roles: BoundApi<typeof api>;
  }
}
