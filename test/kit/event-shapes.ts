/** Checks each event that a test emits: its data against its schema, and its webhook message against the API document. */
import type Joi from 'joi';
import type { Platform } from '#core/start';
import type { AnyEvent, EventOutbox } from '../../core/contract/index.ts';
import { webhookEventOf } from '../../modules/messages/webhooks/models/webhook-event.ts';

type Emitted = Parameters<EventOutbox['take']>[1];

/** @param onFault receives one sentence for each event with a fault */
export function watchEvents(platform: Platform, onFault: (fault: string) => void): void {
  const { work } = platform.tasks;
  const filled = work.contributions;
  const take: EventOutbox['take'] = (ctx, event, definition) => {
    // A transaction that is rolled back emits nothing.
    ctx.afterCommit(() => look(event, definition));
    return null;
  };
  function mustFit(what: string, schema: Joi.ObjectSchema, value: unknown): void {
    // As it is stored and sent.
    const sent = JSON.parse(JSON.stringify(value));
    const { error } = schema.validate(sent, { convert: false });
    if (error) onFault(`${what} has the data ${JSON.stringify(sent)}: ${error.message}`);
  }
  function look(event: Emitted, definition: AnyEvent | undefined): void {
    if (definition) mustFit(`the event ${event.name}`, definition.data, event.data);
    const declared = definition ? webhookEventOf(event.name, definition) : null;
    if (declared) mustFit(`the webhook message ${declared.kind}`, declared.shape, declared.snapshot(event.data, event));
  }
  const watching: EventOutbox = { into: 'nothing', take };
  work.contributions = (slot, scope, orgId) =>
    slot === 'events.outbox' ? [...filled(slot, scope, orgId), watching] : filled(slot, scope, orgId);
}
