/** What a live tool answers when the device, or the way to it, does not do what was asked. */
import { defineError } from '#core';

export const DeviceUnreachable = defineError('DEVICE_UNREACHABLE', 503, 'The device is not connected');
export const DeviceTimeout = defineError('DEVICE_TIMEOUT', 504, 'The device did not answer in time');
export const DeviceDenied = defineError('DEVICE_DENIED', 403, 'The device does not allow this');
export const DeviceFailed = defineError('DEVICE_ERROR', 502, 'The device failed to do this');
export const DeviceBadResponse = defineError('DEVICE_BAD_RESPONSE', 502, 'The device gave an answer that is none');
export const DeviceConflict = defineError('DEVICE_CONFLICT', 409, 'What the device has stands against this');
export const DeviceBusy = defineError('DEVICE_BUSY', 429, 'The device is at work on as many requests as it may');
export const FileLocked = defineError('FILE_LOCKED', 409, 'Another program holds the file');
export const UnsupportedOs = defineError('UNSUPPORTED_OS', 400, "The device's operating system does not have this");
export const ToolNotAllowed = defineError('TOOL_NOT_ALLOWED', 403, 'The organization does not allow this tool');
export const ResultErased = defineError(
  'RESULT_ERASED',
  410,
  'The first request is done; its result is not kept any more',
);
export const TransferOver = defineError('TRANSFER_OVER', 410, 'Nobody waits for this transfer any more');
