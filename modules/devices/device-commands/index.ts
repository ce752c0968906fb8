/** Device commands: work for devices, from the request to the result. */
import { type Context, defineModule } from '#core';
import type { DeviceCommandsApi } from './api.ts';
import { bulkCommand, bulkResult } from './models/bulk-command.ts';
import { commandCreate, commandShape, commandWithOutput, scriptRun } from './models/command.ts';
import { claimCommands } from './services/claims.ts';
import * as connections from './services/connections.ts';
import { queueCommand } from './services/queue.ts';
import { finishCommand, startCommand } from './services/results.ts';
import { cancelWaitingOfTypes, countWaitingOfTypes } from './services/withdrawals.ts';

const api = (ctx: Context): DeviceCommandsApi => ({
  queueCommand: (deviceId, command) => queueCommand(ctx, deviceId, command),
  claimCommands: (deviceId, role) => claimCommands(ctx, deviceId, role),
  pushCommands: (deviceId, role, epoch) => connections.pushCommands(ctx, deviceId, role, epoch),
  releaseCommands: (deviceId, sent) => connections.releaseCommands(ctx, deviceId, sent),
  reclaimCommands: (deviceId, role, epoch) => connections.reclaimCommands(ctx, deviceId, role, epoch),
  beginCommand: (deviceId, role, commandId) => connections.beginCommand(ctx, deviceId, role, commandId),
  noteProgress: (deviceId, progress) => connections.noteProgress(ctx, deviceId, progress),
  startCommand: (deviceId, commandId) => startCommand(ctx, deviceId, commandId),
  finishCommand: (deviceId, commandId, role, result) => finishCommand(ctx, deviceId, commandId, role, result),
  countWaitingCommands: (types, orgIds) => countWaitingOfTypes(ctx, types, orgIds),
  cancelWaitingCommands: (types, where) => cancelWaitingOfTypes(ctx, types, where),
});

export default defineModule({
  name: 'device-commands',
  title: 'Device commands',
  summary: 'Commands and scripts for devices, one at a time or in bulk, and their results',
  requires: ['devices'],
  core: true,
  permissions: ['devices:read', 'devices:write', 'devices:execute', 'scripts:execute'],
  audits: [
    'device.auto_update.set',
    'device.command.queue',
    'device.command.cancel',
    'script.execute',
    'agent.command.result.submit',
  ],
  events: ['device-commands.finished'],
  slots: ['device-commands.command', 'device-commands.guard'],
  // Commands in progress end whether or not the module that owns them is enabled.
  steadySlots: ['device-commands.command'],
  schemas: {
    BulkCommand: bulkCommand,
    BulkCommandResult: bulkResult,
    Command: commandShape,
    CommandCreate: commandCreate,
    CommandWithOutput: commandWithOutput,
    ScriptRun: scriptRun,
  },
  api,
});
