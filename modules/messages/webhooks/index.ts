/** Webhooks: events of an organization or partner, sent to servers of third parties until they are delivered. */
import { defineModule, provide } from '#core';
import { api } from './api.ts';
import { webhookEventOf } from './models/webhook-event.ts';
import { documentedMessages, TESTED } from './services/outbox/documented.ts';
import { LISTENERS, listenersFor } from './services/outbox/listeners.ts';
import { webhookQueue } from './services/sending/queue.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'webhooks',
  title: 'Webhooks',
  summary: "Events sent to other people's servers, signed and repeated until they arrive",
  requires: [],
  variables,
  auditOnly: ['webhook.disable', 'webhook.enable'],
  api,
  async start(start) {
    const listeners = listenersFor(start);
    await listeners.load();
    return { provide: [provide(LISTENERS, listeners)], stop: () => listeners.stop() };
  },
  deliveries: [webhookQueue],
  sends: (events) =>
    documentedMessages([...events.flatMap(({ name, definition }) => webhookEventOf(name, definition) ?? []), TESTED]),
});
