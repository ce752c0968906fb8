/** Tells that an attempt has ended: the audit trail, those who follow events, and every process that remembers the device. */
import type { Context } from '#core';
import failed from '../../events/update/failed.ts';
import succeeded from '../../events/update/succeeded.ts';
import type { Attempt } from '../../models/attempt.ts';

/** In the transaction that ended it, or the work whose group commit did. The actor is the agent where it said so itself. */
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
