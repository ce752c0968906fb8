/** What other modules may ask of webhooks: which events have a kind, and the message of one. */
import { type BoundApi, type Context, type DomainEvent, defineApi } from '#core';
import { kindOf } from './models/webhook-event.ts';
import { isAmong, mayBeAmong, mustKnow, narrowings, webhookEvents } from './services/kinds.ts';
import { dataOf, shown } from './services/outbox/messages.ts';

export interface EventMessage {
  id: string;
  type: string;
  timestamp: string;
  apiVersion: string;
  orgId: string | null;
  correlationId: string;
  causationId: string | null;
  depth: number;
  data: Record<string, unknown>;
}

/** Names of the events whose kinds match one of these kinds or families; without `types`, of all that have a kind. */
function eventNames(ctx: Context, types?: readonly string[]): string[] {
  return webhookEvents(ctx)
    .filter((one) => !types || mayBeAmong(one, types))
    .map(({ event }) => event);
}

/** The event as a webhook would send it; null for one without a kind. */
function messageOf(ctx: Context, event: DomainEvent): EventMessage | null {
  const known = webhookEvents(ctx).find((one) => one.event === event.name);
  if (!known) return null;
  const { id, orgId, occurredAt: timestamp, correlationId, causationId, depth } = event;
  const type = kindOf(known, event.data);
  return shown({ id, type, timestamp, orgId, correlationId, causationId, depth, data: dataOf(known, event) });
}

export const api = defineApi({
  eventNames,
  messageOf,
  /** Whether one of these kinds and families is, or holds, the kind of a message. */
  isAmong: (_ctx: Context, kind: string, types: readonly string[]) => isAmong(kind, types),
  /** Conditions over `events`, beside the names, that keep only events of these kinds. */
  narrowings,
  /** Throws UNKNOWN_EVENT with all kinds in its details. */
  mustKnow: (ctx: Context, types: readonly string[], path: string) => mustKnow(ctx, types, path, 'query'),
});

declare module '#core/contract' {
  interface Apis {
    webhooks: BoundApi<typeof api>;
  }
}
