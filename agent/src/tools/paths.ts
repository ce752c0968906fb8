/** Which paths of the device a technician may name, and which files are closed to remote users. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { AFTER_NAME, denial } from './closed-files.ts';
import { type FilePlaces, ToolError } from './contract.ts';
import { isOnDrive } from './windows/files.ts';

const LONGEST = 2_048;

/** The path in its shortest form. Throws INVALID unless it is absolute and free of NUL and `..` (with either separator). */
export function mustBePath(path: string): string {
  const invalid = (why: string): ToolError => new ToolError('INVALID', `this path ${why}`);
  if (path.length > LONGEST) throw invalid('is too long');
  if (path.includes('\0')) throw invalid('contains a NUL');
  if (path.split(/[\\/]/).includes('..')) throw invalid('contains ".."');
  if (!isAbsolute(path)) throw invalid('is not absolute');
  if (process.platform === 'win32' && !isOnDrive(path)) throw invalid('is not on a drive of this device');
  const short = normalize(path);
  return short.length > 1 && short.endsWith(sep) && dirname(short) !== short ? short.slice(0, -1) : short;
}

/** Where a path leads when all links are followed; the last part need not exist yet. */
export async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw fault;
    return join(await resolved(dirname(path)), basename(path));
  }
}

/**
 * Throws DENIED for a file that is denied, lies in a denied folder or is named after a denied one (its copies and temporary
 * files). `path` is resolved. What was opened is checked by `mustNotBeClosed`.
 */
export async function mustBeAllowed(path: string, places: FilePlaces): Promise<void> {
  for (const denied of places.denied) {
    // The part before the name is resolved: `denied` may be the beginning of several names and itself none of them.
    for (const real of [await resolved(denied).catch(() => denied), denied]) {
      if (folded(path).startsWith(folded(real)) && AFTER_NAME.test(path.slice(real.length))) throw denial();
    }
  }
}

/** Windows and macOS take upper and lower case for the same name. */
function folded(path: string): string {
  return process.platform === 'linux' ? path : path.toLowerCase();
}

/** What the system said of a file, in the words of the tools; other faults stay as they are. */
export function fileFault(fault: unknown, path: string): unknown {
  if (fault instanceof ToolError || !(fault instanceof Error) || !('code' in fault)) return fault;
  switch (fault.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new ToolError('NOT_FOUND', `there is no ${path}`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new ToolError('DENIED', `the agent may not touch ${path}`);
    case 'EBUSY':
    case 'ETXTBSY':
      return new ToolError('FILE_LOCKED', `${path} is in use`);
    case 'EEXIST':
    case 'ENOTEMPTY':
      return new ToolError('CONFLICT', `${path} exists already`);
    case 'EISDIR':
    case 'ELOOP':
    case 'ENAMETOOLONG':
    case 'ENXIO':
      return new ToolError('INVALID', `${path} is not a file`);
    case 'EFBIG':
      return new ToolError('TOO_LARGE', `${path} is too large for its file system`);
    default:
      return fault;
  }
}
