/** Queues each event that webhooks receive for the plugins of the organization that subscribe to its kind. */
import { type AnyEvent, causedBy, defineContribution, type EventOutbox } from '#core';
import type { PluginEvent } from '#plugin-sdk';
import { MAX_EVENT_DEPTH } from '#plugin-sdk/host';
import { listenersOf, mayListen } from '../services/dispatch/listeners.ts';

type Emitted = Parameters<EventOutbox['take']>[1];

/** The kind of the event and its data as webhooks receive them; null for an event that they do not receive. */
function sentOf(event: Emitted, definition: AnyEvent | undefined) {
  const webhook = definition?.webhook;
  if (!webhook) return null;
  const { kind, pick, snapshot } = webhook;
  const whole = event.data as Record<string, unknown>;
  const picked = () => Object.fromEntries(Object.entries(whole).filter(([key]) => pick?.includes(key)));
  return { kind, data: () => snapshot?.(event.data, event) ?? (pick ? picked() : whole) };
}

const take: EventOutbox['take'] = (ctx, event, definition) => {
  const { id, orgId, siteId, deviceId } = event;
  if (!orgId || event.depth > MAX_EVENT_DEPTH) return null;
  const sent = sentOf(event, definition);
  const listeners = listenersOf(ctx);
  const partnerId = ctx.scope.partnerId ?? ctx.scope.ownerPartnerId;
  if (!sent || !mayListen(listeners, { orgId, partnerId, kind: sent.kind })) return null;
  ctx.afterCommit(() => listeners.announce());
  const occurredAt = new Date().toISOString();
  const body: PluginEvent = { id, type: sent.kind, occurredAt, orgId, siteId, deviceId, data: sent.data() };
  return { id, org_id: orgId, kind: sent.kind, causation: causedBy(event), body: JSON.stringify(body) };
};

export default defineContribution('events.outbox', { into: 'plugin_fan_out', take });
