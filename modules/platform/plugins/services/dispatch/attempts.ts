/** Hands one entry of the queue to its plugin: each hook that fits an event, or the handler of a schedule. */
import { afterFailure, checkResult, inputOf, type Step, stepsOf } from '#plugin-sdk/host';
import type { PluginHost } from '../running/host.ts';
import type { Outcome } from '../running/process/invocation.ts';
import type { Claim } from './claims.ts';
import { writeCollected } from './collections.ts';

export interface Result {
  claim: Claim;
  status: 'done' | 'later' | 'released' | 'dropped';
  seconds: number;
  message: string | null;
  outcomes: Outcome[];
}

/** Never rejects. */
export async function attempt(host: PluginHost, claim: Claim): Promise<Result> {
  const outcomes: Outcome[] = [];
  try {
    const manifest = await host.manifestOf(claim);
    // What was handled before an attempt that failed is handled again: delivery is at least once.
    for (const step of manifest ? stepsOf(manifest, claim) : []) {
      const outcome = await run(host, claim, step);
      outcomes.push(outcome);
      if (!outcome.ok) return concluded(claim, outcome, outcomes);
    }
    return { claim, status: 'done', seconds: 0, message: null, outcomes };
  } catch (error) {
    const outcome = { ok: false, code: 'INTERNAL', message: (error as Error).message, afterMs: null, ms: 0 } as const;
    return concluded(claim, outcome, [...outcomes, outcome]);
  }
}

async function run(host: PluginHost, claim: Claim, step: Step): Promise<Outcome> {
  const { key, depth, installationId, orgId } = claim;
  const { handler, hook, timeoutMs, collector } = step;
  const outcome = await host.call(
    { installationId, orgId },
    {
      kind: 'handler',
      handler,
      hook,
      args: [inputOf(claim, step, key)],
      depth,
      ...(timeoutMs ? { timeoutMs } : {}),
    },
  );
  if (!outcome.ok || !collector) return outcome;
  const [fault] = checkResult('collector', 'collect', outcome.result);
  const message = fault
    ? `The result of ${hook} is not valid: ${fault.path} ${fault.message}`
    : await writeCollected(host, { installationId, orgId, hook, fields: collector.fields }, outcome.result as never);
  return message ? { ok: false, code: 'PERMANENT', message, afterMs: null, ms: outcome.ms } : outcome;
}

function concluded(claim: Claim, failed: Extract<Outcome, { ok: false }>, outcomes: Outcome[]): Result {
  return { claim, ...afterFailure(failed, claim.attempts), message: failed.message, outcomes };
}
