/** Converts the result of a command into the answer of the API. */
import { type AppError, errors } from '#core';
import {
  DeviceBadResponse,
  DeviceConflict,
  DeviceDenied,
  DeviceFailed,
  DeviceTimeout,
  FileLocked,
  UnsupportedOs,
} from '../../errors.ts';
import type { Tool } from '../../models/tool.ts';
import type { Ending } from './endings.ts';

const MAX_MESSAGE_CHARS = 500;

/** The result of the tool. Throws the error for the caller; `ending` is null when no answer came in time. */
export function resultOf<R>(tool: Tool<R>, commandId: string, ending: Ending | null): R {
  if (ending?.status === 'completed') {
    const { value, error } = tool.result.validate(parsed(ending.result));
    if (error) throw DeviceBadResponse();
    return value as R;
  }
  if (ending?.status === 'failed') throw errorOf(tool, ending);
  throw timeoutOf(tool, commandId);
}

/** Without an answer it is unknown whether a change was made. */
export const timeoutOf = <R>(tool: Tool<R>, commandId: string): AppError =>
  DeviceTimeout(tool.mutates ? { details: [{ outcome: 'unverified', commandId }] } : {});

function errorOf<R>(tool: Tool<R>, { error, result }: Ending): AppError {
  const { code } = (parsed(result) ?? {}) as { code?: unknown };
  const said = error?.slice(0, MAX_MESSAGE_CHARS).toWellFormed();
  const extras = said ? { message: said } : {};
  switch (code) {
    case 'NOT_FOUND':
      return errors.NotFound(extras);
    case 'PROTECTED':
      // For services this is the service of the agent itself.
      return tool.group === 'services' ? DeviceConflict(extras) : DeviceDenied(extras);
    case 'DENIED':
      return DeviceDenied(extras);
    case 'CONFLICT':
      return DeviceConflict(extras);
    case 'INVALID':
      return errors.ValidationFailed(extras);
    case 'UNSUPPORTED_OS':
    case 'UNSUPPORTED':
      return UnsupportedOs(extras);
    case 'FILE_LOCKED':
      return FileLocked(extras);
    case 'TOO_LARGE':
      return errors.PayloadTooLarge(extras);
    case 'TIMEOUT':
      return DeviceTimeout(extras);
    default:
      return DeviceFailed(extras);
  }
}

function parsed(result: string | null): unknown {
  return result === null ? null : JSON.parse(result);
}
