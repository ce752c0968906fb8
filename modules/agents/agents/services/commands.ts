/** Commands as agents see them. Their states belong to the module device-commands. */

import type { AgentRole, ReceivedResult } from '#agent-protocol';
import { type Context, errors, type Input } from '#core';
import { toWire } from './heartbeats.ts';
import { callerToken } from './tokens/authentication.ts';

/** The id of the calling device, which agent routes always have. */
export function callingDevice(ctx: Context): string {
  const { deviceId } = ctx.scope;
  if (!deviceId) throw errors.Unauthenticated();
  return deviceId;
}

export async function claimCommands(ctx: Context, input: Pick<Input, 'headers'>) {
  const { role } = await callerToken(ctx, input);
  const claimed = await ctx
    .use('device-commands')
    .claimCommands(callingDevice(ctx), role === 'watchdog' ? 'watchdog' : 'agent');
  return { commands: claimed.map(toWire) };
}

/** Throws NOT_FOUND for an unknown command and INVALID_STATE for one that has ended. */
export async function startCommand(ctx: Context, commandId: string): Promise<{ success: true }> {
  await ctx.use('device-commands').startCommand(callingDevice(ctx), commandId);
  return { success: true };
}

/** The first terminal result counts. A repeat gets the same answer, so that the agent stops sending it. */
export async function acceptResult(
  ctx: Context,
  input: Pick<Input<{ commandId: string }, unknown, ReceivedResult>, 'headers' | 'params' | 'payload'>,
): Promise<{ success: true }> {
  const { role } = await callerToken(ctx, input);
  return finish(ctx, role, input.params.commandId, input.payload);
}

/** Stores a result of the agent in the scope of `ctx`. A result of a command that was never delivered is audited as denied. */
export async function finish(
  ctx: Context,
  role: AgentRole,
  commandId: string,
  result: ReceivedResult,
): Promise<{ success: true }> {
  const deviceId = callingDevice(ctx);
  const { known, changed, given } = await ctx.use('device-commands').finishCommand(deviceId, commandId, role, result);
  if (!given) {
    ctx.auditAttempt('agent.command.result.submit', {
      result: 'denied',
      resourceType: 'device',
      resourceId: deviceId,
      errorMessage: known ? 'The command was never delivered' : 'The device has no such command',
      details: { commandId },
    });
  }
  if (!known) throw errors.NotFound('Command not found');
  if (!changed) ctx.unchanged();
  return { success: true };
}
