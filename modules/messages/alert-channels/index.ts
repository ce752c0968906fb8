/** Alert channels: where an organization wants alerts sent, and sending them until they arrive. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { alertChannelQueue } from './services/sending/queue.ts';

export default defineModule({
  name: 'alert-channels',
  title: 'Alert channels',
  summary: 'Where alerts are sent: mail, Slack, Teams, webhooks, PagerDuty and text messages',
  requires: [],
  default: 'on',
  auditOnly: ['notification_channel.disable'],
  deliveries: [alertChannelQueue],
  objects: { channels: 'alert_channels' },
  api,
});
