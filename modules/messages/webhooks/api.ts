/** What other modules may ask of webhooks: which events have a kind, and how the world sees them. */
import type { Context, DomainEvent } from '#core';
import { matchesOf, mustKnow, webhookEvents } from './services/kinds.ts';
import { dataOf, shown } from './services/outbox/messages.ts';

export interface EventMessage {
  id: string;
  type: string;
  timestamp: string;
  apiVersion: string;
  orgId: string | null;
  data: Record<string, unknown>;
}
export interface WebhooksApi {
  /** Names of the events whose kinds match one of these kinds or families; all that have a kind when absent. */
  eventNames(types?: readonly string[]): string[];
  /** Throws UNKNOWN_EVENT, with the kinds there are. */
  mustKnow(types: readonly string[], path: string): void;
  /** The event as a webhook would send it; null for one without a kind. */
  messageOf(event: DomainEvent): EventMessage | null;
}

export const makeApi = (ctx: Context): WebhooksApi => ({
  eventNames: (types) =>
    webhookEvents(ctx)
      .filter(({ kind }) => !types || matchesOf(kind).some((match) => types.includes(match)))
      .map(({ event }) => event),
  mustKnow: (types, path) => mustKnow(ctx, types, path, 'query'),
  messageOf(event) {
    const filling = webhookEvents(ctx).find((one) => one.event === event.name);
    if (!filling) return null;
    const { id, orgId, occurredAt: timestamp } = event;
    return shown({ id, type: filling.kind, timestamp, orgId, data: dataOf(filling, event) });
  },
});
