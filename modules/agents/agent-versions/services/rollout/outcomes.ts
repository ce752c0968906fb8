/** Records the end of an attempt: in the audit trail and as an event. */
import type { Context } from '#core';
import failed from '../../events/update/failed.ts';
import succeeded from '../../events/update/succeeded.ts';
import type { Attempt } from '../../models/attempt.ts';

/** Call it in the transaction that ended the attempt, or in the unit of work whose group commit did. The actor is the agent. */
export function tellEnd(ctx: Context, attempt: Attempt, tried: { over: boolean } = { over: false }): void {
  const { id, orgId, deviceId, component, fromVersion, toVersion, state, reason } = attempt;
  const entry = {
    orgId,
    resourceType: 'device',
    resourceId: deviceId,
    details: { attemptId: id, component, from: fromVersion, to: toVersion, state, reason, attempt: attempt.attempt },
    actor: { kind: 'agent' as const, id: deviceId },
  };
  const data = { attemptId: id, component, from: fromVersion, to: toVersion };
  if (state === 'succeeded') {
    ctx.audit('agent.update.succeeded', entry);
    ctx.emit(succeeded, data, { orgId, deviceId });
  } else {
    ctx.audit('agent.update.failed', { ...entry, result: 'failure', errorMessage: reason ?? state });
    const over = tried.over || state === 'rolled_back';
    ctx.emit(failed, { ...data, state, reason, over }, { orgId, deviceId });
  }
}
