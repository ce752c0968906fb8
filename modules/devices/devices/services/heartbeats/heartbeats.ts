/** Records one heartbeat: in the group commit, then audit entries and events for what it changed. */
import { type Context, errors } from '#core';
import mainAgentSilent from '../../events/main-agent-silent.ts';
import deviceOnline from '../../events/online.ts';
import deviceUpdated from '../../events/updated.ts';
import type { Heartbeat, HeartbeatResponse } from '../../models/heartbeat.ts';
import { type HeartbeatFacts, heartbeats } from './heartbeat-batches.ts';
import { heartbeatRow } from './heartbeat-rows.ts';

/**
 * Records a heartbeat, in a group commit of up to 500. Opens no transaction of its own unless something changed. Throws 410
 * DEVICE_GONE for a purged device.
 */
export async function heartbeat(ctx: Context, input: Heartbeat): Promise<HeartbeatResponse> {
  const queues = ctx.contributions('devices.commands');
  const facts = await ctx.batch(heartbeats, {
    row: heartbeatRow(input),
    metrics: ctx.contributions('devices.metrics'),
    commands: queues,
  });
  if (!facts) throw errors.DeviceGone();
  announce(ctx, input.deviceId, facts);
  const { lifecycle, uninstall, autoUpdateEnabled } = facts;
  const commands = queues.reduce((list, queue) => queue.open(ctx, list), facts.commands);
  return { lifecycle, commands, uninstall, autoUpdateEnabled };
}

function announce(ctx: Context, deviceId: string, facts: HeartbeatFacts): void {
  const { orgId, siteId, hostname } = facts;
  const about = { orgId, siteId, deviceId };
  const entry = { orgId, resourceType: 'device', resourceId: deviceId, resourceName: hostname };
  if (facts.wentOnline) {
    ctx.audit('agent.heartbeat.state_change', { ...entry, details: { from: 'offline', to: 'online' } });
    if (facts.announceOnline) ctx.emit(deviceOnline, { hostname }, about);
  }
  if (facts.wentSilent) ctx.emit(mainAgentSilent, { hostname }, about);
  if (facts.auditIp) {
    ctx.audit('agent.source.ip.changed', { ...entry, details: { from: facts.ipFrom, to: facts.ipTo } });
  }
  if (facts.changedFields.length > 0) ctx.emit(deviceUpdated, { changedFields: facts.changedFields }, about);
}
