/** Everything between a plugin and the harness crosses as JSON, as it does between two processes. */
import { limits, parseMessage } from '@quartermaster/plugin-sdk/host';

/** What arrives at the other side; null for nothing. Throws where it is too large, or no JSON that the other side takes. */
export function across<T>(value: T): T {
  const text = JSON.stringify(value ?? null) as string | undefined;
  // A function or a symbol at the top.
  if (text === undefined) return null as T;
  if (Buffer.byteLength(text) > limits.MAX_MESSAGE_BYTES) throw new TooLarge();
  return parseMessage(text).value as T;
}

export class TooLarge extends Error {
  readonly code = 'TOO_LARGE';

  constructor() {
    super('It is larger than 1 MB');
  }
}
