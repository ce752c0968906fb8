/** Notifications: what happened, told to the people whom it concerns, in the console, by mail and by push. */
import { defineModule } from '#core';
import type { NoticeKind } from './models/notice.ts';

import { notificationQueue } from './services/delivery/queue.ts';
import { variables } from './variables.ts';

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
  variables,
  default: 'on',
  slots: ['notifications.notice'],
  deliveries: [notificationQueue],
});
