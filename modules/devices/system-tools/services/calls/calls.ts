/** One call of a live tool from beginning to end: order, wait, answer. Nothing is held open meanwhile. */
import { AppError, type Context } from '#core';
import type { Tool } from '../../models/tool.ts';
import { untilEnded } from './endings.ts';
import { type Asked, entryOf, type Order, type Placed, placeOrder } from './orders.ts';
import { resultOf } from './outcomes.ts';

export interface Called<R> {
  result: R;
  placed: Placed;
}

/** Throws as `placeOrder` and `resultOf` do. For routes without a transaction. */
export async function callTool<R>(ctx: Context, input: Asked, tool: Tool<R>, order: Order): Promise<Called<R>> {
  const placed = await placeOrder(ctx, input, tool, order);
  return noted(ctx, tool, placed, order, async () => {
    const ending = await untilEnded(ctx, placed, input.gone);
    return { result: resultOf(tool, placed.commandId, ending), placed };
  });
}

/**
 * The order is in the trail with the command. That it failed, or that nobody knows, is an entry of its own; a 403 on a write
 * leaves one wherever it comes from.
 */
export async function noted<R, T>(
  ctx: Context,
  tool: Tool<R>,
  { device, commandId }: Placed,
  { target = {} }: Pick<Order, 'target'>,
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
