/** A call of a live tool: sends the command, waits for its end and returns the result. Holds no transaction while it waits. */
import { AppError, type Context } from '#core';
import type { Tool } from '../../models/tool.ts';
import { untilEnded } from './endings.ts';
import { resultOf } from './outcomes.ts';
import { entryOf, type StartedCall, startCall, type ToolInput, type ToolRequest } from './requests.ts';

export interface Called<R> {
  result: R;
  call: StartedCall;
}

/** Throws like `startCall` and `resultOf`. For routes without a transaction. */
export async function callTool<R>(
  ctx: Context,
  input: ToolInput,
  tool: Tool<R>,
  request: ToolRequest,
): Promise<Called<R>> {
  const call = await startCall(ctx, input, tool, request);
  return auditingFailure(ctx, tool, call, request, async () => {
    const ending = await untilEnded(ctx, call, input.gone);
    return { result: resultOf(tool, call.commandId, ending), call };
  });
}

/**
 * Audits a failure in an entry of its own: the entry of the call is written before its outcome is known. The audit of routes
 * already records a 403 on a write.
 */
export async function auditingFailure<R, T>(
  ctx: Context,
  tool: Tool<R>,
  { device, commandId }: StartedCall,
  { target = {} }: Pick<ToolRequest, 'target'>,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (tool.audit && error instanceof AppError && !(tool.mutates && error.status === 403)) {
      const details = { ...target, commandId, code: error.code };
      ctx.auditAttempt(tool.audit, { ...entryOf(device, details), result: 'failure', errorMessage: error.message });
    }
    throw error;
  }
}
