/** Places a call of a live tool: everything that may stand against it, then the command, in a transaction that ends at once. */
import { type Context, errors, type Input, onceForKey } from '#core';
import type { Apis } from '#core/contract';
import { DeviceBusy, DeviceUnreachable, ToolNotAllowed } from '../../errors.ts';
import type { Tool, ToolGroup } from '../../models/tool.ts';
import { variables } from '../../variables.ts';

export type Device = Awaited<ReturnType<Apis['devices']['mustExist']>>;
export type Asked = Pick<Input, 'headers' | 'params' | 'query' | 'payload' | 'gone'>;
export interface ToolSettings {
  /** The tools that the organization allows. */
  remoteTools: ToolGroup[];
}
export interface Order {
  /** What the device is told; may refuse by what the device is. */
  payload(device: Device): Record<string, unknown>;
  /** What it is about, for the trail; never contents. */
  target?: Record<string, unknown>;
  /** Content travels beside it, in this direction. */
  transfer?: { direction: 'download' | 'upload'; size: number | null; sha256: string | null };
}
export interface Placed {
  commandId: string;
  device: Device;
  /** Resolves when the command has ended, or it is worth a look. */
  first: Promise<void>;
  /** The call came before, with the same Idempotency-Key, and what it asked for was not ordered again. */
  replayed: boolean;
}

const A_MINUTE = 60;
const CALLS_A_MINUTE = 60;
const MOST_AT_ONCE = 4;
/** The agent gives up before the server does, so that it can say so. */
const AGENT_SECONDS = 25;
const RUN_SECONDS = 300;
const TRANSFER_SECONDS = 86_400;
/** Between two looks at a command of whose end nobody told. */
export const LOOK_MS = 5_000;

export const waitMsOf = (ctx: Context): number => variables.of(ctx.services.config).toolWaitSeconds * 1000;

/** Throws, in this order: 404, TOOL_NOT_ALLOWED, 400, INVALID_STATE, DEVICE_UNREACHABLE, RATE_LIMITED, DEVICE_BUSY. */
export async function placeOrder<R>(ctx: Context, input: Asked, tool: Tool<R>, order: Order): Promise<Placed> {
  const { deviceId } = input.params as { deviceId: string };
  const { device, payload, connected } = await ctx.asCaller((own) => look(own, deviceId, tool, order));
  // Whoever sends a key again is owed the first answer, also from a device that has gone.
  if (!connected && input.headers['idempotency-key'] === undefined) throw DeviceUnreachable();
  await countCall(ctx);
  const stop = new AbortController();
  try {
    return await ctx.asCaller(async (own) => {
      const { answer, replayed } = await onceForKey(own, tool.type, input, async () => {
        if (!connected) throw DeviceUnreachable();
        return { commandId: await insert(own, device, tool, payload, order) };
      });
      if (replayed) ctx.unchanged();
      const { commandId } = answer;
      // Before the commit, after which the answer may come at any moment.
      const first = own
        .use('agents')
        .awaitCommand(commandId, Math.min(LOOK_MS, waitMsOf(ctx)), AbortSignal.any([input.gone, stop.signal]));
      return { commandId, device, first: replayed ? Promise.resolve() : first, replayed };
    });
  } catch (error) {
    stop.abort();
    throw error;
  }
}

async function look<R>(ctx: Context, deviceId: string, tool: Tool<R>, order: Order) {
  const device = await ctx.use('devices').mustExist(deviceId);
  const { remoteTools } = await ctx.settings<ToolSettings>('system-tools', device.orgId);
  if (!remoteTools.includes(tool.group)) throw ToolNotAllowed();
  const payload = order.payload(device);
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  return { device, payload, connected: await ctx.use('agents').isConnected(deviceId) };
}

/** Not within a transaction: the counts may lie on another machine. While they cannot be reached nobody is refused. */
async function countCall({ actor, services }: Context): Promise<void> {
  const key = `system-tools:${actor.kind}:${actor.id}`;
  const hit = await services.counters.hit(key, CALLS_A_MINUTE, A_MINUTE).catch(() => null);
  if (!hit || hit.allowed) return;
  const retryAfter = Math.max(1, hit.retryAfterSeconds);
  throw errors.RateLimited({ beside: { retryAfter }, headers: { 'retry-after': String(retryAfter) } });
}

async function insert<R>(
  ctx: Context,
  device: Device,
  tool: Tool<R>,
  payload: Record<string, unknown>,
  { target = {}, transfer }: Order,
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
  await takePlace(ctx, device, tool.type, command.id);
  if (transfer) {
    // reach: look() has checked the device with mustExist
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

/** One of the device's four. Those who come at once take turns, else they would all count the same. */
async function takePlace(ctx: Context, { id, orgId }: Device, tool: string, commandId: string): Promise<void> {
  const seconds = variables.of(ctx.services.config).toolWaitSeconds;
  await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('system-tools:' || $1, 0))`, [id]);
  // reach: look() has checked the device with mustExist
  const { rowCount } = await ctx.sql(
    `insert into tool_calls (command_id, device_id, org_id, tool, open_until)
     select $1, $2, $3, $4, now() + make_interval(secs => $5)
     where (select count(*) from tool_calls c where c.device_id = $2 and c.ended_at is null
       and (c.open_until > now() or exists (select from file_transfers t
         where t.command_id = c.command_id and t.moved_at > now() - make_interval(secs => $5)))) < $6`,
    [commandId, id, orgId, tool, seconds, MOST_AT_ONCE],
  );
  if (rowCount !== 1) throw DeviceBusy({ headers: { 'retry-after': '1' } });
}
