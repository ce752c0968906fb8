/** What other modules may ask of agents: `ctx.use('agents')`. */
import type { Context } from '#core';
import { commandWaits } from './services/command-waits.ts';
import { isConnected } from './services/sockets/connections.ts';
import { restoreTokens, suspendTokens } from './services/tokens/credentials.ts';

export const api = (ctx: Context) => ({
  /** Every token of the device is refused with RE_ENROLLMENT_REQUIRED; false when it was so already. */
  suspend: (deviceId: string, reason: string) => suspendTokens(ctx, deviceId, reason),
  /** Takes a suspension back; false when there was none. */
  restore: (deviceId: string) => restoreTokens(ctx, deviceId),
  /**
   * Waits at most so many milliseconds, or until `signal`, for the end of a command; look what became of it afterwards,
   * whatever the reason. Begin to wait before the commit, so that no end goes by unheard; do not hold a transaction meanwhile.
   */
  awaitCommand: (commandId: string, ms: number, signal?: AbortSignal) => commandWaits(ctx).wait(commandId, ms, signal),
  /** Whether some process holds the socket of the device's main agent. One of a dead process counts for a minute more. */
  isConnected: (deviceId: string) => isConnected(ctx, deviceId),
});

declare module '#core/contract' {
  interface Apis {
    agents: ReturnType<typeof api>;
  }
}
