/** The error of the embedded PostgreSQL server: one sentence that an operator can act on. */

/** Thrown when the embedded server cannot be started; the message is one clear sentence without secrets. */
export class EmbeddedServerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedServerError';
  }
}

/** The port is taken: its own class, because with a port of our choice another one can be tried. */
export class PortTakenError extends EmbeddedServerError {}

/** The system's code of an error (`EACCES`, …), or an empty string. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

const FILE_FAULTS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a file is in the way',
  EIO: 'the disk reports an input/output error',
  EMFILE: 'too many open files',
};

/** A file fault as an EmbeddedServerError: `Cannot <doing>: <why>.` Our own errors pass through unchanged. */
export function fileFault(doing: string, error: unknown): EmbeddedServerError {
  if (error instanceof EmbeddedServerError) return error;
  const why = FILE_FAULTS[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
  return new EmbeddedServerError(`Cannot ${doing}: ${why}.`, { cause: error });
}

/** What PostgreSQL or initdb wrote last, as one sentence. `lines` is their stderr, oldest first. */
export function serverFault(lines: readonly string[], where: string, port?: number): EmbeddedServerError {
  const text = lines.join('\n');
  if (/Address already in use/.test(text)) {
    return new PortTakenError(
      `The embedded PostgreSQL cannot listen on port ${port} of 127.0.0.1: another program uses it; set EMBEDDED_POSTGRES_PORT to a free port, or to 0.`,
    );
  }
  if (/No space left on device/.test(text)) return new EmbeddedServerError(`The disk that holds ${where} is full.`);
  if (/Read-only file system/.test(text)) return new EmbeddedServerError(`${where} is on a read-only file system.`);
  const grave = lines.filter((line) => /(FATAL|PANIC|error):/.test(line));
  const last = (grave.at(-1) ?? lines.at(-1) ?? 'it gave no reason').replace(/^.*?(FATAL|PANIC|error):\s*/, '');
  return new EmbeddedServerError(`The embedded PostgreSQL in ${where} did not start: ${last.trim()}`);
}
