/** The input of a request: stored sealed where it holds secrets, and with a hash that tells whether it is still the same. */
import { type Context, canonicalJson, errors } from '#core';
import type { ApprovalKind } from '../slots/kind.ts';

const MAX_INPUT_BYTES = 256 * 1024;
/** The key that holds a sealed input. */
const SEALED = '$sealed';

const placeOf = (row: string) => ({ table: 'approval_requests', column: 'input', row });

/** Equal for equal JSON, and of no use to guess a secret. @throws 413 */
export function hashOf(ctx: Context, input: unknown): string {
  const text = canonicalJson(JSON.parse(JSON.stringify(input)));
  if (Buffer.byteLength(text) > MAX_INPUT_BYTES) throw errors.PayloadTooLarge('What is approved has at most 256 KiB');
  return ctx.services.mac('approvals.input', text);
}

/** The input as it is stored. @param id of the request: what is sealed opens for no other */
export function storedInput(
  ctx: Context,
  { secret }: Pick<ApprovalKind, 'secret'>,
  id: string,
  input: Record<string, unknown>,
): Record<string, unknown> {
  return secret ? { [SEALED]: ctx.services.seal.seal(JSON.stringify(input), placeOf(id)) } : input;
}

/** Throws where the encryption key was lost. */
export function openInput(ctx: Context, id: string, stored: Record<string, unknown>): Record<string, unknown> {
  const { [SEALED]: sealed } = stored;
  return typeof sealed === 'string'
    ? (JSON.parse(ctx.services.seal.open(sealed, placeOf(id))) as Record<string, unknown>)
    : stored;
}
