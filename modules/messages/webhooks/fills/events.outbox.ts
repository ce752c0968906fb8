/** Every event of every module passes here; those that have a kind become messages of the webhooks that listen. */
import { type Context, defineContribution, type EventOutbox } from '#core';
import { kindOf, webhookEventOf } from '../models/webhook-event.ts';
import { matchesOf } from '../services/kinds.ts';
import { listenersOf, mayListen } from '../services/outbox/listeners.ts';
import { bodyOf, dataOf } from '../services/outbox/messages.ts';

const take: EventOutbox['take'] = (ctx: Context, event, definition) => {
  const { id, name, orgId } = event;
  if (!orgId) return null;
  const webhook = definition ? webhookEventOf(name, definition) : null;
  if (!webhook) return null;
  const listeners = listenersOf(ctx);
  if (!mayListen(listeners, orgId)) return null;
  ctx.afterCommit(() => listeners.announce());
  const kind = kindOf(webhook, event.data);
  const timestamp = new Date().toISOString();
  const { correlationId, causationId, depth } = event;
  return {
    id,
    kind,
    org_id: orgId,
    site_id: event.siteId,
    device_id: event.deviceId,
    severity: webhook.severity?.(event.data) ?? null,
    matches: matchesOf(kind),
    body: bodyOf({
      ...{ id, type: kind, timestamp, orgId, correlationId, causationId, depth },
      data: dataOf(webhook, event),
    }),
  };
};

export default defineContribution('events.outbox', { into: 'webhook_fan_out', take });
