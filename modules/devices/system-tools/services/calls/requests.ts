/** Starts a call of a live tool: checks the device and the limits, then queues the command in a short transaction. */
import { type Context, errors, type Input, onceForKey } from '#core';
import { DeviceBusy, DeviceUnreachable, ToolNotAllowed } from '../../errors.ts';
import type { Tool, ToolGroup } from '../../models/tool.ts';
import { variables } from '../../variables.ts';

/** The fields of a device that tools use. */
export interface Device {
  id: string;
  orgId: string;
  hostname: string;
  osType: string;
  lifecycle: string;
}
export type ToolInput = Pick<Input, 'headers' | 'params' | 'query' | 'payload' | 'gone'>;
export interface ToolSettings {
  /** The tools that the organization allows. */
  remoteTools: ToolGroup[];
}
export interface ToolRequest {
  /** The payload of the command; throws where the device does not support the tool. */
  payload(device: Device): Record<string, unknown>;
  /** Details for the audit entry; never contents of files. */
  target?: Record<string, unknown>;
  /** The transfer that goes with the command, where there is one. */
  transfer?: { direction: 'download' | 'upload'; size: number | null; sha256: string | null };
}
export interface StartedCall {
  commandId: string;
  device: Device;
  /** Resolves when the command has ended, or when it should be polled. */
  first: Promise<void>;
  /** A repeat with the same Idempotency-Key: no new command was queued. */
  replayed: boolean;
}

const WINDOW_SECONDS = 60;
const MAX_CALLS_PER_MINUTE = 60;
const MAX_CONCURRENT_CALLS = 4;
/** Below the default of REMOTE_TOOL_WAIT_SECONDS, so that the agent reports its timeout before the server gives up. */
const AGENT_SECONDS = 25;
const RUN_SECONDS = 300;
const TRANSFER_SECONDS = 86_400;
/** How often a command is polled whose hint may be lost, in milliseconds. */
export const POLL_MS = 5_000;

export const waitMsOf = (ctx: Context): number => variables.of(ctx.services.config).toolWaitSeconds * 1000;

/** Throws, in this order: 404, TOOL_NOT_ALLOWED, 400, INVALID_STATE, DEVICE_UNREACHABLE, RATE_LIMITED, DEVICE_BUSY. */
export async function startCall<R>(
  ctx: Context,
  input: ToolInput,
  tool: Tool<R>,
  request: ToolRequest,
): Promise<StartedCall> {
  const { deviceId } = input.params as { deviceId: string };
  const { device, payload, connected } = await ctx.asCaller((own) => checkDevice(own, deviceId, tool, request));
  // A repeat of a key gets the first answer, even if the device is no longer connected.
  if (!connected && input.headers['idempotency-key'] === undefined) throw DeviceUnreachable();
  await countCall(ctx);
  const stop = new AbortController();
  try {
    return await ctx.asCaller(async (own) => {
      const { answer, replayed } = await onceForKey(own, tool.type, input, async () => {
        if (!connected) throw DeviceUnreachable();
        return { commandId: await insert(own, device, tool, payload, request) };
      });
      if (replayed) ctx.unchanged();
      const { commandId } = answer;
      // Before the commit, because the command may end at any time after it.
      const first = own
        .use('agents')
        .awaitCommand(commandId, Math.min(POLL_MS, waitMsOf(ctx)), AbortSignal.any([input.gone, stop.signal]));
      return { commandId, device, first: replayed ? Promise.resolve() : first, replayed };
    });
  } catch (error) {
    stop.abort();
    throw error;
  }
}

async function checkDevice<R>(ctx: Context, deviceId: string, tool: Tool<R>, request: ToolRequest) {
  const device = await ctx.use('devices').mustExist(deviceId);
  const { remoteTools } = await ctx.settings<ToolSettings>('system-tools', device.orgId);
  if (!remoteTools.includes(tool.group)) throw ToolNotAllowed();
  const payload = request.payload(device);
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  return { device, payload, connected: await ctx.use('agents').isConnected(deviceId) };
}

/** Not within a transaction, because the counter store may be remote. While it is unavailable, no call is limited. */
async function countCall({ actor, services }: Context): Promise<void> {
  const key = `system-tools:${actor.kind}:${actor.id}`;
  const hit = await services.counters.hit(key, MAX_CALLS_PER_MINUTE, WINDOW_SECONDS).catch(() => null);
  if (!hit || hit.allowed) return;
  const retryAfter = Math.max(1, hit.retryAfterSeconds);
  throw errors.RateLimited({ beside: { retryAfter }, headers: { 'retry-after': String(retryAfter) } });
}

async function insert<R>(
  ctx: Context,
  device: Device,
  tool: Tool<R>,
  payload: Record<string, unknown>,
  { target = {}, transfer }: ToolRequest,
): Promise<string> {
  const { actor } = ctx;
  const command = await ctx.use('device-commands').queueCommand(device.id, {
    type: tool.type,
    payload,
    priority: 10,
    deliverBy: new Date(Date.now() + 60_000),
    executionTimeoutSeconds: transfer ? TRANSFER_SECONDS : AGENT_SECONDS,
    runLimitSeconds: transfer ? TRANSFER_SECONDS : RUN_SECONDS,
    source: actor.kind === 'api_key' ? 'api_key' : 'user',
    sourceId: actor.kind === 'api_key' ? actor.id : null,
  });
  await takeSlot(ctx, device, tool.type, command.id);
  if (transfer) {
    // reach: checkDevice() has checked the device with mustExist
    await ctx.sql(
      `insert into file_transfers (command_id, device_id, org_id, direction, file_size, file_sha256)
       values ($1, $2, $3, $4, $5, $6)`,
      [command.id, device.id, device.orgId, transfer.direction, transfer.size, transfer.sha256],
    );
  }
  if (tool.audit) ctx.audit(tool.audit, entryOf(device, { ...target, commandId: command.id }));
  return command.id;
}

export const entryOf = ({ id, orgId, hostname }: Device, details: Record<string, unknown>) => ({
  orgId,
  resourceType: 'device',
  resourceId: id,
  resourceName: hostname,
  details: { deviceId: id, hostname, ...details },
});

/** Takes one of the MAX_CONCURRENT_CALLS of the device. The lock makes concurrent calls count each other. */
async function takeSlot(ctx: Context, { id, orgId }: Device, tool: string, commandId: string): Promise<void> {
  const seconds = variables.of(ctx.services.config).toolWaitSeconds;
  await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('system-tools:' || $1, 0))`, [id]);
  // reach: checkDevice() has checked the device with mustExist
  const { rowCount } = await ctx.sql(
    `insert into tool_calls (command_id, device_id, org_id, tool, open_until)
     select $1, $2, $3, $4, now() + make_interval(secs => $5)
     where (select count(*) from tool_calls c where c.device_id = $2 and c.ended_at is null
       and (c.open_until > now() or exists (select from file_transfers t
         where t.command_id = c.command_id and t.moved_at > now() - make_interval(secs => $5)))) < $6`,
    [commandId, id, orgId, tool, seconds, MAX_CONCURRENT_CALLS],
  );
  if (rowCount !== 1) throw DeviceBusy({ headers: { 'retry-after': '1' } });
}
