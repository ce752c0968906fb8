/** The slot `schedules.kind`: a module that schedules something. */
import { type Context, defineSlot } from '#core';
import type { Occurrence } from '../models/schedule.ts';

export interface ScheduledKind {
  /** `<module>.<what>`; where that module is off for an organization, its occurrences are left out and not made up for. */
  kind: string;
  /**
   * Receives occurrences that have come round, at most 500 at a time, in the transaction that moves their schedules on: it adds
   * jobs or rows and does no long work. Platform role. Each occurrence comes once; when this throws, they come again.
   */
  due(ctx: Context, occurrences: readonly Occurrence[]): Promise<void>;
}

declare module '#core/contract' {
  interface Slots {
    'schedules.kind': ScheduledKind;
  }
}

export default defineSlot<ScheduledKind>({
  summary: 'Receives the occurrences of what a module has scheduled',
  steady: true,
});
