/** One heartbeat: through the group commit, then audit and events for what it changed. */
import { type Context, errors } from '#core';
import type { Beat, BeatAnswer } from '../../beats.ts';
import { type BeatFacts, beats } from './beat-batches.ts';
import { beatRow } from './beat-rows.ts';

/** Opens no transaction of its own unless something changed. Throws DEVICE_GONE for a device that was purged. */
export async function beat(ctx: Context, input: Beat): Promise<BeatAnswer> {
  const facts = await ctx.batch(beats, beatRow(input));
  if (!facts) throw errors.DeviceGone();
  tell(ctx, input.deviceId, facts);
  const { lifecycle, commands, uninstall, autoUpdateEnabled } = facts;
  return { lifecycle, commands, uninstall, autoUpdateEnabled };
}

function tell(ctx: Context, deviceId: string, facts: BeatFacts): void {
  const { orgId, siteId, hostname } = facts;
  const about = { orgId, siteId, deviceId };
  const entry = { orgId, resourceType: 'device', resourceId: deviceId, resourceName: hostname };
  if (facts.wentOnline) {
    ctx.audit('agent.heartbeat.state_change', { ...entry, details: { from: 'offline', to: 'online' } });
    if (facts.tellOnline) ctx.emit('devices.online', { hostname }, about);
  }
  if (facts.wentSilent) ctx.emit('devices.main_agent_silent', { hostname }, about);
  if (facts.auditIp) {
    ctx.audit('agent.source.ip.changed', { ...entry, details: { from: facts.ipFrom, to: facts.ipTo } });
  }
  if (facts.changedFields.length > 0) ctx.emit('devices.updated', { changedFields: facts.changedFields }, about);
}
