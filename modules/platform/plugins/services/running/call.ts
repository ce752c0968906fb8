/** A call of a plugin as the modules of the server ask for it. */
import type { Causation } from '#core';
import type { HandlerKind } from '#plugin-sdk/host';
import type { Outcome } from './process/invocation.ts';

export interface Call {
  kind: HandlerKind;
  handler: string;
  hook: string;
  args: readonly unknown[];
  timeoutMs?: number;
  /** What led to it; without, it is a beginning. */
  causation?: Causation;
  /** Also while it is disabled: lifecycle steps and trials. */
  always?: boolean;
}
export const failed = (code: string, message: string, afterMs: number | null = null): Outcome => ({
  ok: false,
  code,
  message,
  afterMs,
  ms: 0,
});
