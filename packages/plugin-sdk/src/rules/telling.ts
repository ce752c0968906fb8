/** Events that plugins tell, and work that they put off. */
import { HostError } from '../failures.ts';
import { MAX_EVENT_DEPTH } from '../limits.ts';

/** That stand in line for one plugin, and how far ahead. */
const MOST_PLANNED = 1_000;
const FARTHEST_MS = 366 * 86_400_000;

/** The depth of an event that a plugin emits. Throws RATE_LIMITED where plugins only hear each other. @param cause of the event it heard */
export function nextDepth(cause: number): number {
  if (cause + 1 > MAX_EVENT_DEPTH)
    throw new HostError('RATE_LIMITED', `Events of plugins follow on each other at most ${MAX_EVENT_DEPTH} times`);
  return cause + 1;
}

/** Throws INVALID_PARAMS. */
export function mustBeNear(at: Date, now: number): void {
  if (at.getTime() > now + FARTHEST_MS)
    throw new HostError('INVALID_PARAMS', 'schedule.once: at lies more than a year ahead');
}

/** Throws QUOTA_EXCEEDED. */
export function mustHaveTurn(planned: number): void {
  if (planned >= MOST_PLANNED) throw new HostError('QUOTA_EXCEEDED', `At most ${MOST_PLANNED} are planned at a time`);
}

/** The same name and time are the same work: an event that comes twice plans it once. */
export const onceKey = (name: string, at: Date): string => `once:${name}:${at.toISOString()}`;
