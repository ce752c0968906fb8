/** The metrics that a worker reports. */

export interface JobMetrics {
  /** Counts an attempt and records how long it took. */
  job(task: string, outcome: string, seconds: number): void;
  /** Counts a job that was fetched and returned to the queue, because too many of its kind run or its task is paused. */
  deferral(task: string): void;
}
