/** Webhooks: events of an organization sent to other people's servers, signed, again and again until they arrive. */
import { defineModule, provide } from '#core';
import { api } from './api.ts';
import { type WebhookEvent, webhookEventOf } from './models/webhook-event.ts';
import { LISTENERS, listenersFor } from './services/outbox/listeners.ts';
import { startSending } from './services/sending/dispatcher.ts';
import { documentedMessages, TESTED } from './services/sending/documented.ts';

declare module '#core/contract' {
  interface Slots {
    'webhooks.event': WebhookEvent;
  }
}

export default defineModule({
  name: 'webhooks',
  title: 'Webhooks',
  summary: "Events sent to other people's servers, signed and repeated until they arrive",
  requires: [],
  auditOnly: ['webhook.disable', 'webhook.enable'],
  slots: ['webhooks.event'],
  api,
  async start(start) {
    const listeners = listenersFor(start);
    await listeners.load();
    return { provide: [provide(LISTENERS, listeners)], stop: () => listeners.stop() };
  },
  work: startSending,
  sends: (filled, events) =>
    documentedMessages([
      ...(filled('webhooks.event') as WebhookEvent[]),
      ...events.flatMap(({ name, definition }) => webhookEventOf(name, definition) ?? []),
      TESTED,
    ]),
});
