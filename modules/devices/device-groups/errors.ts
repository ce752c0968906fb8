/** Errors of this module. */
import { defineError, errors } from '#core';

/** Thrown when a request adds members to a dynamic group or removes them. */
export const DynamicGroup = defineError('DYNAMIC_GROUP', 400, 'The members of a dynamic group follow from its filter');

/** Thrown when a request gives a static group a filter, pins its devices or previews it. */
export const StaticGroup = defineError('STATIC_GROUP', 400, 'A static group has no filter: add or remove its devices');

/** Thrown when the filter of a device group refers to device groups. */
export const FilterRecursion = defineError(
  'FILTER_RECURSION',
  400,
  'The filter of a device group cannot ask for device groups',
);

/** Thrown when a device is added to a group that is bound to another site. */
export const OutsideSite = defineError('OUTSIDE_SITE', 400, 'The device lies outside the site of the group');

/** Thrown when a group would lie more than five levels deep. */
export const TreeTooDeep = defineError('GROUP_TREE_TOO_DEEP', 422, 'Device groups have at most 5 levels');

/** Thrown when the parent of a group would be the group itself or one below it. */
export const TreeCycle = defineError('GROUP_TREE_CYCLE', 422, 'A device group cannot lie below itself');

export const GroupNotFound = () => errors.NotFound('Device group not found');

/** One field of a request that does not fit. */
export const invalid = (path: string, message: string, more: object = {}) =>
  errors.ValidationFailed({ message, details: [{ in: 'payload', path, message, ...more }] });
