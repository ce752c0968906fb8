/** The health of the queue: levels, the state of each rule, and the data of its event. */

export type Level = 'ok' | 'warn' | 'critical';
/** The health rules; modules/platform/queue/README.md lists their thresholds. */
export type Rule = 'oldest_ready' | 'failures' | 'no_worker' | 'cron_late' | 'outbox' | 'stuck' | 'snapshot';

/** The finding of a rule about one subject: a task, a schedule, or '' for the whole queue. */
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
