/** Errors of this module. */
import { defineError } from '#core';

export const ExportNotReady = defineError('EXPORT_NOT_READY', 409, 'The export has not ended yet');
export const ExportFailed = defineError('EXPORT_FAILED', 409, 'The export failed; ask for another one');
export const TooManyExports = defineError(
  'TOO_MANY_EXPORTS',
  429,
  'The tenant has reached its limit of running and stored exports',
);
export const NotCovered = defineError('NOT_COVERED', 409, 'The checkpoint does not cover this entry');
export const ProofBroken = defineError('PROOF_BROKEN', 409, 'The stored tree was damaged; verify this chain');
