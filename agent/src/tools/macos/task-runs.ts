/** The history of a job of launchd, out of what launchd writes to the unified log. */
import type { TaskRun } from '#agent-protocol';
import { type LogLine, timeOf } from './unified-log.ts';

/** `[system/com.example.job [501]:] Successfully spawned job[501] because calendar interval` */
const SPAWNED = /Successfully spawned .*\[(\d+)\](?: because (.+?))?\.?$/;
/** `[system/com.example.job [501]:] exited due to exit(1)`, or `… exited due to SIGKILL | sent by launchd[1]` */
const EXITED = /\[(\d+)\]:?\] (?:service )?exited(?: due to (?:exit\((-?\d+)\)|(SIG\w+)))?/;

/** Runs of a job, newest first; `lines` are oldest first. Messages about other jobs whose label begins alike are none. */
export function runsOf(lines: readonly LogLine[], label: string): TaskRun[] {
  const running = new Map<string, TaskRun>();
  const runs: TaskRun[] = [];
  for (const line of lines) {
    const message = String(line.eventMessage);
    if (!new RegExp(`(?<![\\w.-])${RegExp.escape(label)}(?![\\w.-])`).test(message)) continue;
    const time = new Date(timeOf(line.timestamp)).toISOString();
    const [, born, reason] = SPAWNED.exec(message) ?? [];
    if (born !== undefined) {
      const run = { startTime: time, endTime: null, result: null, message: reason ?? null };
      running.set(born, run);
      runs.push(run);
      continue;
    }
    const [, died, exit, signal] = EXITED.exec(message) ?? [];
    if (died === undefined) continue;
    const run = running.get(died) ?? { startTime: null, endTime: null, result: null, message: null };
    if (!running.delete(died)) runs.push(run);
    run.endTime = time;
    run.result = exit ?? signal ?? null;
  }
  return runs.reverse();
}
