/** The room of recurrences: what comes round when, in any time zone. */
export type { Recurrence } from './kinds.ts';
export { nextOccurrence, nextOccurrences } from './occurrences.ts';
export { recurrence } from './recurrence.ts';
