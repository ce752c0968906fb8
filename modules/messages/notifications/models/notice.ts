/** The slot `notifications.notice`: whoever emits an event says what people are told of it, and who. */
import type { DomainEvent } from '#core';

export const TYPES = [
  ...(['alert', 'device', 'script', 'automation', 'system', 'user', 'security', 'ticket', 'report'] as const),
];
export type NoticeType = (typeof TYPES)[number];
/** From the least pressing to the most. */
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Plain text throughout; what is too long is cut. */
export interface Notice {
  title: string;
  message: string;
  /** A path within the console: begins with one slash. */
  link?: string;
  /** At most 8 KB: ids for whoever shows it. */
  metadata?: Record<string, unknown>;
  /** What it is about: an unread notice of the same key is counted up, and nobody is mailed again. */
  dedupeKey?: string;
  /** Of an event of no organization: the partner whose people hear of it. */
  partnerId?: string | null;
}
/** What the fan-out looks up for everybody. */
export interface About {
  /** What people call the device; null where the event is about none. */
  device: string | null;
  organization: string | null;
}
export interface NoticeKind {
  event: string;
  /** One line, for the list of kinds. */
  summary: string;
  /** Absent where the event only settles what another notice said. */
  tell?: {
    type: NoticeType;
    // biome-ignore lint/suspicious/noExplicitAny: each filling names the data of its own event
    priority: Priority | ((data: any) => Priority);
    /** Who may not look at the subject is not told of it: `resource:action` as routes ask for it. */
    permission: string;
    /** An event of neither organization nor partner is only told, to system users, where this is true. */
    installation?: true;
    /** Null for nothing. */
    // biome-ignore lint/suspicious/noExplicitAny: as above
    render(data: any, about: About, event: DomainEvent): Notice | null;
  };
  /** The key of notices whose mail and push need not go out any more. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  settles?(data: any, event: DomainEvent): string;
}
