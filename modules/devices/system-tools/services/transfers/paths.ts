/** Paths of files on a device, as far as the server can check them. */
import { errors } from '#core';

/** The path unchanged. Throws VALIDATION_ERROR unless it is absolute on that operating system and has no `..`. */
export function filePath(path: string, osType: string, from: 'query' | 'payload' = 'query'): string {
  const refuse = (why: string) => {
    const message = `"path" ${why}`;
    return errors.ValidationFailed({ message, details: [{ in: from, path: 'path', message }] });
  };
  if (path.split(/[/\\]/).includes('..')) throw refuse('must not contain ..');
  const absolute = osType === 'windows' ? /^([A-Za-z]:[/\\]|\\\\[^\\]|\/\/[^/])/ : /^\//;
  if (!absolute.test(path)) throw refuse('must be absolute');
  return path;
}

/** The name of the file. */
export const nameOf = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== '') ?? 'file';
