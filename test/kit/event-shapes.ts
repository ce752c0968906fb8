/** Holds every event that a test makes against what the API document says that webhooks are told of it. */

import type { Platform } from '#core/start';
import type { EventOutbox } from '../../core/contract/index.ts';
import type { WebhookEvent } from '../../modules/messages/webhooks/models/webhook-event.ts';

/** @param onFault hears of each event whose snapshot is another than its kind's shape */
export function watchEvents(platform: Platform, onFault: (fault: string) => void): void {
  const { work } = platform.tasks;
  const filled = work.fillings;
  const take: EventOutbox['take'] = (ctx, event) => {
    // What is undone is told to nobody.
    ctx.afterCommit(() => look(event));
    return null;
  };
  function look(event: Parameters<EventOutbox['take']>[1]): void {
    for (const { event: name, kind, snapshot, shape } of filled('webhooks.event') as readonly WebhookEvent[]) {
      if (name !== event.name) continue;
      // As it would be sent.
      const sent = JSON.parse(JSON.stringify(snapshot(event.data, event)));
      const { error } = shape.validate(sent, { convert: false });
      if (error) onFault(`${kind} is told with ${JSON.stringify(sent)}: ${error.message}`);
    }
  }
  const watching: EventOutbox = { into: 'nothing', take };
  work.fillings = (slot, scope, orgId) =>
    slot === 'events.outbox' ? [...filled(slot, scope, orgId), watching] : filled(slot, scope, orgId);
}
