/** When a job runs by itself. */

export type Schedule =
  /** Five cron fields, UTC. */
  | { cron: string }
  /** Seconds; divides 60. */
  | { every: number };
