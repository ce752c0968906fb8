/** Paths of files on a device, as far as the server can judge them. */
import { errors } from '#core';

/** The path as it was given. Throws VALIDATION_ERROR unless it is absolute on that system and goes nowhere up. */
export function filePath(path: string, osType: string, from: 'query' | 'payload' = 'query'): string {
  const refuse = (why: string) => {
    const message = `"path" ${why}`;
    return errors.ValidationFailed({ message, details: [{ in: from, path: 'path', message }] });
  };
  if (path.split(/[/\\]/).includes('..')) throw refuse('must not go up by ..');
  const absolute = osType === 'windows' ? /^([A-Za-z]:[/\\]|\\\\[^\\]|\/\/[^/])/ : /^\//;
  if (!absolute.test(path)) throw refuse('must be absolute');
  return path;
}

/** What the file is called. */
export const nameOf = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== '') ?? 'file';
