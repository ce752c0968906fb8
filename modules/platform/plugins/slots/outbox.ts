/** Every event of every module passes here; those that plugins of the organization listen to wait for them. */
import { defineFilling, type EventOutbox } from '#core';
import type { PluginEvent } from '#plugin-sdk';
import { listenersOf, mayListen } from '../services/dispatch/listeners.ts';

const take: EventOutbox['take'] = (ctx, event) => {
  const { id, name, orgId, siteId, deviceId, actor } = event;
  if (!orgId) return null;
  // What the world may know of an event is said once, by its module, for webhooks and plugins alike.
  const told = ctx.fillings('webhooks.event').find((one) => one.event === name);
  const listeners = listenersOf(ctx);
  const partnerId = ctx.scope.partnerId ?? ctx.scope.ownerPartnerId;
  if (!told || !mayListen(listeners, { orgId, partnerId, kind: told.kind })) return null;
  ctx.afterCommit(() => listeners.announce());
  const data = told.snapshot(event.data, event);
  const occurredAt = new Date().toISOString();
  const body: PluginEvent = { id, type: told.kind, occurredAt, orgId, siteId, deviceId, data };
  const depth = name === 'plugins.event' ? (event.data as { depth: number }).depth : 0;
  return { id, org_id: orgId, kind: told.kind, actor_id: actor.id, depth, body: JSON.stringify(body) };
};

export default defineFilling({ slot: 'events.outbox', value: { into: 'plugin_fan_out', take } });
