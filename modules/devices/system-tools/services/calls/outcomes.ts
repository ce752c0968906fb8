/** From what a device said to what the caller hears. */
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

const LONGEST_MESSAGE = 500;

/** What the tool answered. Throws what the caller must hear; `ending` null says that nothing came in time. */
export function resultOf<R>(tool: Tool<R>, commandId: string, ending: Ending | null): R {
  if (ending?.status === 'completed') {
    const { value, error } = tool.result.validate(parsed(ending.result));
    if (error) throw DeviceBadResponse();
    return value as R;
  }
  if (ending?.status === 'failed') throw refusalOf(tool, ending);
  throw timeoutOf(tool, commandId);
}

/** Nobody knows whether a change was made whose answer did not come. */
export const timeoutOf = <R>(tool: Tool<R>, commandId: string): AppError =>
  DeviceTimeout(tool.mutates ? { details: [{ outcome: 'unverified', commandId }] } : {});

function refusalOf<R>(tool: Tool<R>, { error, result }: Ending): AppError {
  const { code } = (parsed(result) ?? {}) as { code?: unknown };
  const said = error?.slice(0, LONGEST_MESSAGE).toWellFormed();
  const extras = said ? { message: said } : {};
  switch (code) {
    case 'NOT_FOUND':
      return errors.NotFound(extras);
    case 'PROTECTED':
      // The agent's own service.
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
