/** Events and notifications that plugins send, and work that they schedule. */
import { HostError, mustBeNear, mustHaveTurn, nextDepth, onceKey } from '#plugin-sdk/host';
import pluginEvent from '../../events/event.ts';
import notified from '../../events/notified.ts';
import type { Method } from './method.ts';

export const tellMethods: Record<string, Method> = {
  'events.emit': async (ctx, { name, data }: { name: string; data: Record<string, unknown> }, { facts }) => {
    // Throws where plugins only hear each other.
    nextDepth(ctx.causation.depth - 1);
    const { id: installationId, slug, orgId } = facts;
    ctx.emit(pluginEvent, { installationId, slug, name, data }, { orgId });
    return null;
  },
  'notifications.send': async (
    ctx,
    { userId, title, message }: { userId?: string; title: string; message: string },
    { facts },
  ) => {
    if (userId) throw new HostError('NOT_AVAILABLE', 'This server tells all whom it concerns, not one of them');
    const { id: installationId, slug, orgId } = facts;
    ctx.emit(notified, { installationId, slug, title, message }, { orgId });
    return null;
  },
  'schedule.once': async (
    ctx,
    { name, at, data = {} }: { name: string; at: string; data?: Record<string, unknown> },
    { facts, invocation },
  ) => {
    const when = new Date(at);
    mustBeNear(when, Date.now());
    const { rows } = await ctx.sql<{ n: number }>(
      `select count(*)::int as n from plugin_queue where installation_id = $1 and org_id = $2 and kind = 'once'`,
      [facts.id, facts.orgId],
    );
    mustHaveTurn(rows[0]?.n ?? 0);
    await ctx.sql(
      `insert into plugin_queue (installation_id, org_id, key, kind, body, causation, due_at)
       values ($1, $2, $3, 'once', $4::json, $5::jsonb, $6)
       on conflict (installation_id, org_id, key) do update set body = excluded.body where plugin_queue.lease is null`,
      [
        facts.id,
        facts.orgId,
        onceKey(name, when),
        JSON.stringify({ name, at: when.toISOString(), data }),
        JSON.stringify(invocation.causation),
        when,
      ],
    );
    return null;
  },
};
