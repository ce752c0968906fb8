/** The slot `roles.usage`. */
import { defineSlot } from '#core';
import type { RoleUsage } from '../models/role-usage.ts';

declare module '#core/contract' {
  interface Slots {
    'roles.usage': RoleUsage;
  }
}

export default defineSlot<RoleUsage>({
  summary: 'Reports which objects refer to a role',
  steady: true,
});
