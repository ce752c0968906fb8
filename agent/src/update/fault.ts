/** Why an update did not come about, in the words that the server knows. */
export type UpdateReason =
  | 'checksum_mismatch'
  | 'signature_invalid'
  | 'download_failed'
  | 'file_locked'
  | 'no_space'
  | 'start_failed';

export class UpdateFault extends Error {
  readonly reason: UpdateReason;

  constructor(reason: UpdateReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UpdateFault';
    this.reason = reason;
  }
}

/** What the system says about files, in those words; anything else keeps the fallback. */
export function fileFault(error: unknown, fallback: UpdateReason): UpdateFault {
  if (error instanceof UpdateFault) return error;
  const { code = '', message = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new UpdateFault('no_space', message, error);
  if (['EBUSY', 'ETXTBSY', 'EPERM', 'EACCES'].includes(code)) return new UpdateFault('file_locked', message, error);
  return new UpdateFault(fallback, message, error);
}
