/** What other modules can call: `ctx.use('schedules')`. */
import { type BoundApi, defineApi } from '#core';
import { nextRuns, removeSchedules, setSchedule } from './services/schedules.ts';

export const api = defineApi({ setSchedule, removeSchedules, nextRuns });

declare module '#core/contract' {
  interface Apis {
    schedules: BoundApi<typeof api>;
  }
}
