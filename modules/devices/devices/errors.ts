/** Errors of this module. */
import { defineError } from '#core';

/** Thrown when an organization or its partner already has as many devices as its limit allows. */
export const DeviceLimitReached = defineError('DEVICE_LIMIT_REACHED', 403, 'The device limit has been reached');

/** Thrown when a decommissioned device can no longer be restored, after 30 days. */
export const RestoreTooLate = defineError('RESTORE_TOO_LATE', 409, 'The device was decommissioned too long ago');

/** Thrown when a device would move to the organization that it is in. */
export const SameOrg = defineError('SAME_ORG', 400, 'The device is already in this organization');

/** Thrown when a device would move to an organization of another partner. */
export const CrossPartner = defineError('CROSS_PARTNER', 403, 'A device can only move within its partner');

/** Thrown when the device that a merge removes still reports: it is another machine. */
export const DeviceOnline = defineError('DEVICE_ONLINE', 409, 'The device is online, so it is a machine of its own');

/** Thrown when a device is provisioned under the host name of an existing one. */
export const HostnameCollision = defineError('HOSTNAME_COLLISION', 409, 'A device with this host name already exists');
