/** Sends what is due, for as long as a worker process lives. */
import { type StartServices, startDispatcher } from '#core';
import { DUE } from '../outbox/listeners.ts';
import { attempt, type Result } from './attempts.ts';
import { type Claim, claim, PER_WEBHOOK } from './claims.ts';
import { writeResults } from './results.ts';

/** Resolves with what stops it. */
export async function startSending(start: StartServices): Promise<() => Promise<void>> {
  const { services } = start;
  return startDispatcher<Claim, Result>(start, {
    name: 'webhooks',
    hint: DUE,
    places: { most: services.config.workers.webhooks, each: PER_WEBHOOK, receiverOf: ({ webhookId }) => webhookId },
    write: writeResults,
    claim,
    attempt: (one, signal) => attempt(services, one, signal),
  });
}
