/** Notifications: what happened, told to the people whom it concerns, in the console, by mail and by push. */
import { defineModule } from '#core';
import { notificationQueue } from './services/delivery/queue.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'notifications',
  title: 'Notifications',
  summary: 'What happened, told to the people whom it concerns, in the console, by mail and by push',
  requires: [],
  variables,
  default: 'on',
  deliveries: [notificationQueue],
});
