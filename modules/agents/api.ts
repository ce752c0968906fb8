/** What other modules may ask of agents: `ctx.use('agents')`. */
import type { Context } from '#core';
import { commandWaits } from './services/command-waits.ts';
import { restoreTokens, suspendTokens } from './services/credentials.ts';

export const api = (ctx: Context) => ({
  /** Every token of the device is refused with RE_ENROLLMENT_REQUIRED; false when it was so already. */
  suspend: (deviceId: string, reason: string) => suspendTokens(ctx, deviceId, reason),
  /** Takes a suspension back; false when there was none. */
  restore: (deviceId: string) => restoreTokens(ctx, deviceId),
  /**
   * Waits at most so many milliseconds for the end of a command that was committed; read its row afterwards, whatever the
   * reason. Not within a transaction.
   */
  awaitCommand: (commandId: string, ms: number) => commandWaits(ctx).wait(commandId, ms),
});

declare module '#core/contract' {
  interface Apis {
    agents: ReturnType<typeof api>;
  }
}
