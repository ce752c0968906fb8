/** Errors of switching modules on and off. */
import { defineError } from '#core';

export const CoreModule = defineError('CORE_MODULE', 400, 'This module cannot be switched off');
export const LockedByInstance = defineError('LOCKED_BY_INSTANCE', 403, 'Only the operator may switch this module');
export const NotInPlan = defineError('NOT_IN_PLAN', 403, 'The module is not included in the plan');
export const DependencyDisabled = defineError(
  'DEPENDENCY_DISABLED',
  409,
  'Modules that this one requires are switched off',
);
export const DisabledAbove = defineError('DISABLED_ABOVE', 409, 'The module is switched off at a level above');
