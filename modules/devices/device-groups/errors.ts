/** Errors of this module. */
import { defineError, errors } from '#core';

export const DynamicGroup = defineError('DYNAMIC_GROUP', 400, 'The members of a dynamic group follow from its filter');
export const StaticGroup = defineError('STATIC_GROUP', 400, 'A static group has no filter: add or remove its devices');
export const FilterRecursion = defineError(
  'FILTER_RECURSION',
  400,
  'The filter of a device group cannot ask for device groups',
);
export const OutsideSite = defineError('OUTSIDE_SITE', 400, 'The device lies outside the site of the group');
export const TreeTooDeep = defineError('GROUP_TREE_TOO_DEEP', 422, 'Device groups have at most 5 levels');
export const TreeCycle = defineError('GROUP_TREE_CYCLE', 422, 'A device group cannot lie below itself');

export const GroupNotFound = () => errors.NotFound('Device group not found');

/** One field of a request that does not fit. */
export const invalid = (path: string, message: string, more: object = {}) =>
  errors.ValidationFailed({ message, details: [{ in: 'payload', path, message, ...more }] });
