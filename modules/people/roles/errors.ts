/** Errors of this module. */
import { defineError } from '#core';

export const RoleCycle = defineError('ROLE_CYCLE', 400, 'Cannot set parent role: would create circular inheritance');
export const RoleTooDeep = defineError('ROLE_TOO_DEEP', 400, 'A chain of inheriting roles has at most 10 roles');
export const RoleInUse = defineError('ROLE_IN_USE', 400, 'Cannot delete a role in use');
export const RoleLimit = defineError('ROLE_LIMIT_REACHED', 409, 'A tenant has at most 200 roles of its own');
