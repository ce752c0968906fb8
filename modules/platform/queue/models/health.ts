/** The health of the queue: levels, where a rule stands, and what subscribers are told. */

export type Level = 'ok' | 'warn' | 'critical';
/** The health rules; modules/jobs/README.md says when each warns. */
export type Rule = 'oldest_ready' | 'failures' | 'no_worker' | 'cron_late' | 'outbox' | 'stuck' | 'snapshot';

/** What a rule sees now about one subject: a task, a schedule, or '' for the whole. */
export interface Finding {
  rule: Rule;
  subject: string;
  level: Level;
  detail: string;
}
export interface HealthChange {
  rule: Rule;
  subject: string;
  before: Level;
  level: Level;
  detail: string;
}
