/** What led to a piece of work: passed on from requests to events, jobs and commands, so that a chain of automatic reactions ends. */
import { randomUUID } from 'node:crypto';

/** Stamped on the events that the work emits. */
export interface Causation {
  /** The same for all that follows from one request, job of a schedule, or report of an agent. */
  readonly correlationId: string;
  /** The event that it reacts to; null at the beginning. */
  readonly causationId: string | null;
  /** How many events lie before it: 0 at the beginning. */
  readonly depth: number;
  /** What acted on the way, such as `plugins:<id of the installation>`; the first first. */
  readonly by: readonly string[];
}

/** Events that follow on each other are at most so deep before nothing acts on them any more. */
export const MAX_DEPTH = 5;

export const beginCausation = (): Causation => ({ correlationId: randomUUID(), causationId: null, depth: 0, by: [] });

/** Of work that reacts to the event. */
export const causedBy = ({ id, correlationId, depth, by }: Caused): Causation => ({
  ...{ correlationId, causationId: id, depth: depth + 1, by },
});
interface Caused extends Pick<Causation, 'correlationId' | 'depth' | 'by'> {
  id: string;
}

/** The same in the name of what acts there, so that it does not act on what follows. */
export const actedBy = (causation: Causation, name: string): Causation => ({
  ...causation,
  by: causation.by.includes(name) ? causation.by : [...causation.by, name],
});

/**
 * Whether what acts by itself, such as an automation, may act on the event: not where events have followed on each other too often,
 * nor where it was itself among what led here.
 */
export const mayAct = ({ depth, by }: Pick<Causation, 'depth' | 'by'>, name: string): boolean =>
  depth <= MAX_DEPTH && !by.includes(name);
