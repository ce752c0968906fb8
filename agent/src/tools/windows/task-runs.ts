/** The history of a task of Windows, out of what the scheduler wrote into its own event log. */
import type { TaskRun } from '#agent-protocol';
import { detailsOf } from './event-logs.ts';
import { instantOf, type Row, textOf } from './powershell.ts';

/** Event ids of the scheduler. */
const STARTED = [100, 129];
const ENDED = [102, 201];
const FAILED = [101, 103, 111, 202, 203, 329];
const NO_RUN = '00000000-0000-0000-0000-000000000000';

/** Runs from events, newest first in both; the events of one run carry the same activity. */
export function runsOf(events: readonly Row[]): TaskRun[] {
  const runs = new Map<string, TaskRun>();
  for (const event of events) {
    const activity = textOf(event.activity);
    const id = Number(event.id);
    if (!activity || activity === NO_RUN) continue;
    if (![...STARTED, ...ENDED, ...FAILED].includes(id)) continue;
    const run = runs.get(activity) ?? { startTime: null, endTime: null, result: null, message: null };
    runs.set(activity, run);
    const time = instantOf(event.time);
    if (STARTED.includes(id)) run.startTime = time;
    else run.endTime ??= time;
    run.result ??= textOf(detailsOf(event).ResultCode);
    if (FAILED.includes(id)) run.message ??= textOf(event.message);
  }
  return [...runs.values()];
}
