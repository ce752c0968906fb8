/** Errors of this module. */
import { defineError } from '#core';

/** Thrown when ids of a target do not belong to the organizations that it is for. */
export const ForeignTargets = defineError('FOREIGN_TARGETS', 400, 'The target names what its owner does not have');
/** Thrown when the person or key in whose name something runs reaches its devices no longer. */
export const OwnerAccessLost = defineError(
  'OWNER_ACCESS_LOST',
  409,
  'Who made this has lost access to the devices that it is for',
);
/** Thrown when a run would be for more devices than one run may have. */
export const TooManyTargets = defineError('TOO_MANY_TARGETS', 422, 'A run is for at most 100000 devices');
