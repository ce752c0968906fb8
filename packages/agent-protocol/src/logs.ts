/** What agents write: lines about themselves, and events of the operating system. `T` is how times are held: ISO 8601 on the wire. */

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** How long agents send lines of another level than usual at the request of `set_log_level`; 0 means until they restart. */
export const MAX_LOG_LEVEL_MINUTES = 10_080;
/** Lines of one call of `POST /agents/{id}/logs`. */
export const MAX_LOG_LINES = 500;

export interface LogEntry<T = string> {
  timestamp: T;
  level: LogLevel;
  component: string;
  message: string;
  fields?: Record<string, unknown> | null;
  agentVersion?: string | null;
}

export const EVENT_LEVELS = ['info', 'warning', 'error', 'critical'] as const;
export type EventLevel = (typeof EVENT_LEVELS)[number];
export const EVENT_CATEGORIES = ['security', 'hardware', 'application', 'system'] as const;
export type EventCategory = (typeof EVENT_CATEGORIES)[number];
/** Events of one call of `PUT /agents/{id}/eventlogs`. */
export const MAX_SYSTEM_EVENTS = 5_000;

export interface SystemEvent<T = string> {
  timestamp: T;
  /** `info` when absent. */
  level?: EventLevel;
  /** `application` when absent. */
  category?: EventCategory;
  source: string;
  eventId?: string | null;
  message: string;
  details?: Record<string, unknown> | null;
}
