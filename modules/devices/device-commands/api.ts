/**
 * What other modules can call: `ctx.use('device-commands')`. Hints (`ctx.hint`, received by `StartServices.onNotice`):
 * `device-commands.waiting` with the id of the device when a command was queued or waits again, `device-commands.ended` with the
 * id of a command that has ended.
 */
import { type BoundApi, defineApi } from '#core';
import { claimCommands } from './services/claims.ts';
import { beginCommand, noteProgress, pushCommands, reclaimCommands, releaseCommands } from './services/connections.ts';
import { queueCommand } from './services/queue.ts';
import { finishCommand, startCommand } from './services/results.ts';
import { cancelWaitingCommands, countWaitingCommands } from './services/withdrawals.ts';

export const api = defineApi({
  queueCommand,
  claimCommands,
  pushCommands,
  releaseCommands,
  reclaimCommands,
  beginCommand,
  noteProgress,
  startCommand,
  finishCommand,
  countWaitingCommands,
  cancelWaitingCommands,
});

declare module '#core/contract' {
  interface Apis {
    'device-commands': BoundApi<typeof api>;
  }
}
