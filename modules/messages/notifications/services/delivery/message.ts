/** A mail or push message on its way: one notice, or the notices of a digest. */
import type { NoticeType, Priority } from '../../models/notice.ts';

/** As it lies in the queue. */
export interface QueuedMessage {
  kind: 'email' | 'push';
  userId: string;
  /** The time of a digest; null for a single notice. */
  digestAt: Date | null;
  /** Push subscriptions still to be reached; null for all. */
  targets: string[] | null;
  email: string;
}
/** With the notices that are still to be sent, the most important first. */
export interface Message extends QueuedMessage {
  items: Item[];
}
export interface Item {
  /** Of the delivery. */
  id: string;
  notificationId: string;
  type: NoticeType;
  priority: Priority;
  title: string;
  message: string;
  link: string | null;
  dedupeKey: string | null;
  count: number;
  organization: string | null;
  lastOccurredAt: Date;
}

/** What an attempt writes into the log. */
export interface Details {
  /** Push subscriptions still to be reached. */
  targets?: string[] | null;
  providerMessageId?: string | null;
}
