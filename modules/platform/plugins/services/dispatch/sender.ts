/** One attempt to hand a message to its plugin: each hook that fits an event, or the handler of a schedule or collector. */
import type { Causation, ClaimedMessage, Outcome } from '#core';
import { afterFailure, checkResult, inputOf, type Step, stepsOf } from '#plugin-sdk/host';
import type { PluginHost } from '../running/host.ts';
import type { Outcome as CallOutcome } from '../running/process/invocation.ts';
import { writeCollected } from './collections.ts';

export interface Message {
  installationId: string;
  orgId: string;
  /** Of the installation, when it belongs to a partner. */
  partnerId: string | null;
  kind: 'event' | 'schedule' | 'collector' | 'once';
  /** Identifies the work; the same in every attempt. */
  key: string;
  body: Record<string, unknown>;
  /** Null: it is a beginning, as a schedule is. */
  causation: Causation | null;
}
export interface Details {
  /** Of each handler that was called. */
  calls: CallOutcome[];
}
type FailedCall = Extract<CallOutcome, { ok: false }>;

/** Never rejects. */
export async function send(host: PluginHost, message: Message & ClaimedMessage): Promise<Outcome<Details>> {
  const calls: CallOutcome[] = [];
  try {
    const manifest = await host.manifestOf(message);
    // A further attempt calls all handlers again, also those that succeeded: delivery is at least once.
    for (const step of manifest ? stepsOf(manifest, message) : []) {
      const outcome = await call(host, message, step);
      calls.push(outcome);
      if (!outcome.ok) return failed(message, outcome, calls);
    }
    return { result: 'delivered', details: { calls } };
  } catch (error) {
    const outcome = { ok: false, code: 'INTERNAL', message: (error as Error).message, afterMs: null, ms: 0 } as const;
    return failed(message, outcome, [...calls, outcome]);
  }
}

async function call(host: PluginHost, message: Message, step: Step): Promise<CallOutcome> {
  const { key, causation, installationId, orgId } = message;
  const { handler, hook, timeoutMs, collector } = step;
  const outcome = await host.call(
    { installationId, orgId },
    {
      kind: 'handler',
      handler,
      hook,
      args: [inputOf(message, step, key)],
      ...(causation ? { causation } : {}),
      ...(timeoutMs ? { timeoutMs } : {}),
    },
  );
  if (!outcome.ok || !collector) return outcome;
  const [fault] = checkResult('collector', 'collect', outcome.result);
  const why = fault
    ? `The result of ${hook} is not valid: ${fault.path} ${fault.message}`
    : await writeCollected(host, { installationId, orgId, hook, fields: collector.fields }, outcome.result as never);
  return why ? { ok: false, code: 'PERMANENT', message: why, afterMs: null, ms: outcome.ms } : outcome;
}

/** The rules of the plugin SDK decide the outcome, here and in its test kit. */
function failed({ attempts }: ClaimedMessage, failure: FailedCall, calls: CallOutcome[]): Outcome<Details> {
  const { status, seconds } = afterFailure(failure, attempts);
  const result = status === 'later' ? 'failed' : status === 'dropped' ? 'rejected' : 'released';
  return { result, error: failure.message, retryIn: seconds, details: { calls } };
}
