/** What other modules may ask of agents: `ctx.use('agents')`. */
import { type BoundApi, defineApi } from '#core';
import { awaitCommand } from './services/command-waits.ts';
import { isConnected } from './services/sockets/connections.ts';
import { restoreTokens, suspendTokens } from './services/tokens/credentials.ts';

export const api = defineApi({ suspend: suspendTokens, restore: restoreTokens, awaitCommand, isConnected });

declare module '#core/contract' {
  interface Apis {
    agents: BoundApi<typeof api>;
  }
}
