/** The field `notice` of event definitions: what the notification of an event says, and who receives it. */
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
  /** At most 8 KB: ids for the client that shows it. */
  metadata?: Record<string, unknown>;
  /** The subject: an unread notification of the same key is counted up instead of a new one, and no second mail is sent. */
  dedupeKey?: string;
  /** Of an event of no organization: the partner whose people hear of it. */
  partnerId?: string | null;
  /** Ids of the only users who hear of it, as far as they reach the subject and have the permission; all of those when absent. */
  only?: readonly string[];
}
/** What the fan-out looks up for everybody. */
export interface About {
  /** What people call the device; null where the event is about none. */
  device: string | null;
  organization: string | null;
}
interface NoticeText<D> {
  type: NoticeType;
  priority: Priority | ((data: D) => Priority);
  /** Only users with this permission receive the notification: `resource:action` as routes require it. */
  permission: string | ((data: D) => string);
  /** An event with neither organization nor partner is sent, to system users, only where this is true. */
  installation?: true;
  /** Null for no notification. */
  render(data: D, about: About, event: DomainEvent): Notice | null;
}
export interface EventNotice<D> {
  /** One line, for the list of kinds; the summary of the event when absent. */
  summary?: string;
  /** Absent where the event only settles the notifications of another. */
  tell?: NoticeText<D>;
  /** The key of notifications whose mail and push messages are cancelled if they have not been sent. */
  settles?(data: D, event: DomainEvent): string;
}
declare module '#core/contract' {
  interface EventFields<D> {
    notice?: EventNotice<D>;
  }
}
