/** One attempt to send a claimed message, and what follows from it. */
import type { AnyDeliveryQueue, ClaimedMessage, DeliveryResult, Outcome, StartServices } from '../contract/index.ts';
import { type Gate, isPaused, type OfTenants } from './gate.ts';
import { retryDelay } from './retry-delay.ts';

/** Never rejects: a `send` that throws is a failed attempt. What was paused since it was claimed goes back into the queue. */
export async function attempt(
  start: StartServices,
  queue: AnyDeliveryQueue,
  gate: Gate,
  message: ClaimedMessage & OfTenants,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  if (isPaused(gate, message)) return resultOf(queue, message, { result: 'released' });
  try {
    return resultOf(queue, message, await queue.send(start, message, signal));
  } catch (error) {
    start.log.error({ err: error, queue: queue.name, message: message.id }, 'a message could not be sent');
    return resultOf(queue, message, { result: 'failed', error: 'internal error' });
  }
}

/** Decides between another attempt and giving up. */
export function resultOf(
  { retryDelays }: Pick<AnyDeliveryQueue, 'retryDelays'>,
  message: ClaimedMessage,
  outcome: Outcome,
): DeliveryResult {
  const { result, retryAfter = null, retryIn = null } = outcome;
  const made = message.attempts + 1;
  const ended = (status: 'delivered' | 'failed') => ({ message, outcome, status, seconds: null });
  if (result === 'delivered') return ended('delivered');
  if (result === 'released') return { message, outcome, status: 'released', seconds: retryIn ?? 0 };
  if (result === 'rejected' || made >= (message.maxAttempts ?? retryDelays.length + 1)) return ended('failed');
  return { message, outcome, status: 'retrying', seconds: retryIn ?? retryDelay(retryDelays, made, retryAfter) };
}
