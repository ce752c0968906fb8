/** Channels of alerts: where an organization wants them sent, and sending them until they arrive. */
import { type Context, defineModule } from '#core';
import type { ChannelMessage, MessageKind } from './models/message.ts';
import { cancel, send } from './services/sending/messages.ts';
import { alertChannelQueue } from './services/sending/queue.ts';

const api = (ctx: Context) => ({
  /**
   * Part of the caller's transaction: the message goes out after its commit, again and again until it arrives. The same
   * alert, kind, step and sequence are sent once. What a channel was never told of, it is not told the end of.
   */
  send: (channelId: string, message: ChannelMessage & { orgId: string; step?: number; sequence?: number }) =>
    send(ctx, channelId, message),
  /** Takes back what has not gone out about an alert, of these kinds or all; returns how many. */
  cancel: (alertId: string, kinds?: readonly MessageKind[]) => cancel(ctx, alertId, kinds),
});

declare module '#core/contract' {
  interface Apis {
    'alert-channels': ReturnType<typeof api>;
  }
  interface Events {
    /** It sends nothing more until somebody changes it or says that it is on. */
    'alert-channels.disabled': {
      channelId: string;
      partnerId: string | null;
      name: string;
      type: string;
      error: string;
      consecutiveFailures: number;
    };
  }
}

export default defineModule({
  name: 'alert-channels',
  title: 'Alert channels',
  summary: 'Where alerts are sent: mail, Slack, Teams, webhooks, PagerDuty and text messages',
  requires: [],
  default: 'on',
  auditOnly: ['notification_channel.disable'],
  events: ['alert-channels.disabled'],
  deliveries: [alertChannelQueue],
  objects: { channels: 'alert_channels' },
  api,
});
