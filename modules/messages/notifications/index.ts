/** Notifications: what happened, told to the people whom it concerns, in the console, by mail and by push. */
import { defineModule } from '#core';
import type { NoticeKind } from './models/notice.ts';
import { notificationShape } from './models/notification.ts';
import { preference } from './models/preference.ts';
import { subscriptionShape } from './models/push-subscription.ts';
import { notificationQueue } from './services/delivery/queue.ts';

declare module '#core/contract' {
  interface Slots {
    'notifications.notice': NoticeKind;
  }
}

export default defineModule({
  name: 'notifications',
  title: 'Notifications',
  summary: 'What happened, told to the people whom it concerns, in the console, by mail and by push',
  requires: [],
  default: 'on',
  permissions: [],
  audits: [
    'notification.read.mark',
    'notification.delete',
    'notification.delete_all',
    'notification.preferences.update',
    'notification.push.subscribe',
    'notification.push.unsubscribe',
  ],
  slots: ['notifications.notice'],
  deliveries: [notificationQueue],
  schemas: {
    Notification: notificationShape,
    NotificationPreference: preference,
    PushSubscription: subscriptionShape,
  },
});
