/** Event logs, as live tools list and query them. */

export const EVENT_ITEM_LEVELS = ['critical', 'error', 'warning', 'info', 'debug'] as const;
export type EventItemLevel = (typeof EVENT_ITEM_LEVELS)[number];

export interface EventLogItem {
  name: string;
  displayName: string;
  recordCount: number | null;
  /** Bytes. */
  maxSize: number | null;
  retentionDays: number | null;
  lastWriteTime: string | null;
}
export interface EventItem {
  /** Opaque; identifies the event when its details are asked for. */
  recordId: string;
  timestamp: string;
  level: EventItemLevel;
  source: string;
  /** The system's own word: a facility of syslog, a task of Windows, a category of macOS. Older agents leave it out. */
  category?: string | null;
  eventId: string | null;
  message: string;
  computer: string | null;
  user: string | null;
}
export interface EventDetail extends EventItem {
  details: Record<string, string>;
}
