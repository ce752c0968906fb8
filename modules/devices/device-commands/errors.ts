/** Errors of this module. */
import { defineError } from '#core';

/** Thrown when `whenOffline` is `fail` and the device is offline. */
export const DeviceOffline = defineError('DEVICE_OFFLINE', 409, 'The device is offline');

/** Thrown for a type of command that another feature owns, with its own endpoint, permission and records. */
export const UseDedicatedEndpoint = defineError(
  'USE_DEDICATED_ENDPOINT',
  400,
  'Commands of this type are sent through the endpoint of the feature they belong to',
);

/** Thrown for a power command that a setting or the installation of the agent does not allow; `details` says which. */
export const PowerCommandsOff = defineError('POWER_COMMANDS_OFF', 409, 'Power commands are turned off for this device');

/** Thrown for a command of a module that is switched off for the organization of the device; `details` names it. */
export const CommandDisabled = defineError(
  'COMMAND_DISABLED',
  409,
  'The feature that the command belongs to is switched off for this organization',
);

/** Thrown when a module blocks the command for the device, as during a maintenance window. */
export const BlockedByMaintenance = defineError(
  'BLOCKED_BY_MAINTENANCE',
  409,
  'A maintenance window does not allow this now',
);

/** Thrown when each device of a bulk command failed, so that none was queued or skipped. */
export const NoEligibleTargets = defineError('NO_ELIGIBLE_TARGETS', 422, 'None of the devices can take the command');

/** Thrown when a bulk command needs approval for devices of several organizations: each of them decides for itself. */
export const OneOrganization = defineError(
  'ONE_ORGANIZATION_AT_A_TIME',
  409,
  'The command needs approval: send it to the devices of one organization at a time',
);

/** Thrown by `wake` when the inventory of the device has no MAC address. */
export const NoMacs = defineError('NO_MACS', 412, 'No network address of the device is known');

/** Thrown by `wake` when the inventory of the device has no IP address. */
export const NoSubnet = defineError('NO_SUBNET', 412, 'The subnet of the device is not known');

/** Thrown by `wake` when the device has IPv6 addresses only. */
export const Ipv6Only = defineError('IPV6_ONLY', 412, 'The device has no IPv4 address, which Wake-on-LAN requires');

/** Thrown by `wake` when no other device of the same site and subnet is online. */
export const NoRelay = defineError(
  'NO_RELAY',
  412,
  'No other device of the subnet is online to send the wake-up packet',
);
