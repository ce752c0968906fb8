/** Errors of this module: the device, or the connection to it, cannot do what was requested. */
import { defineError } from '#core';

export const DeviceUnreachable = defineError('DEVICE_UNREACHABLE', 503, 'The device is not connected');
export const DeviceTimeout = defineError('DEVICE_TIMEOUT', 504, 'The device did not answer in time');
export const DeviceDenied = defineError('DEVICE_DENIED', 403, 'The device does not allow this');
export const DeviceFailed = defineError('DEVICE_ERROR', 502, 'The device failed to do this');
export const DeviceBadResponse = defineError('DEVICE_BAD_RESPONSE', 502, 'The device sent an invalid answer');
export const DeviceConflict = defineError('DEVICE_CONFLICT', 409, 'The state of the device does not allow this');
export const DeviceBusy = defineError('DEVICE_BUSY', 429, 'The device has the maximum number of concurrent requests');
export const FileLocked = defineError('FILE_LOCKED', 409, 'Another program has the file open');
export const UnsupportedOs = defineError('UNSUPPORTED_OS', 400, "The device's operating system does not have this");
export const ToolNotAllowed = defineError('TOOL_NOT_ALLOWED', 403, 'The organization does not allow this tool');
export const ResultErased = defineError(
  'RESULT_ERASED',
  410,
  'The first request has ended, and its result is no longer stored',
);
export const TransferOver = defineError('TRANSFER_OVER', 410, 'The transfer has ended or does not exist');
