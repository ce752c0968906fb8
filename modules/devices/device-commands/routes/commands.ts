/** /devices/{id}/commands and /run-script, and /devices/bulk/commands. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { bulkCommand, bulkPending, bulkResult } from '../models/bulk-command.ts';
import {
  COMMAND_STATUSES,
  type CommandStatus,
  commandCreate,
  commandShape,
  commandWithOutput,
  scriptRun,
} from '../models/command.ts';
import { sendBulk } from '../services/bulk/commands.ts';
import { cancelCommand } from '../services/cancellations.ts';
import { listCommands, readCommand, runScript, sendCommand } from '../services/commands.ts';

const id = Joi.string().uuid().required();
const params = Joi.object<{ id: string }>({ id });
const both = Joi.object<{ id: string; commandId: string }>({ id, commandId: id });
const wrapped = Joi.object({ data: commandShape.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/commands',
    summary: 'Lists the commands of a device, the newest first',
    access: { permission: 'devices:read' },
    params,
    query: Joi.object<PageQuery & { status?: CommandStatus; type?: string }>({
      ...pageQuery(),
      status: Joi.string()
        .valid(...COMMAND_STATUSES)
        .description('Only in this state'),
      type: Joi.string().max(50).description('Only of this type'),
    }),
    response: pageOf(commandShape),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => listCommands(ctx, input.params.id, input.query),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/commands',
    summary: 'Queues a command for a device; it is delivered when the agent next reports',
    access: { permission: 'devices:execute' },
    audit: 'device.command.queue',
    params,
    payload: commandCreate,
    response: wrapped,
    status: 201,
    errors: [
      ...['NOT_FOUND', 'USE_DEDICATED_ENDPOINT', 'ALREADY_PENDING', 'INVALID_STATE', 'DEVICE_OFFLINE'],
      ...[
        'MFA_VERIFICATION_REQUIRED',
        'BLOCKED_BY_MAINTENANCE',
        'POWER_COMMANDS_OFF',
        'COMMAND_DISABLED',
        'NO_MACS',
        'NO_SUBNET',
        'IPV6_ONLY',
        'NO_RELAY',
      ],
    ],
    handler: (ctx, input) => sendCommand(ctx, input.params.id, input.payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/bulk/commands',
    summary: 'Queues a command for many devices, and returns the outcome for each',
    description:
      'Above the number of devices in the setting `device-commands.approvalAboveDevices` of their organization, the command waits for the approval of a second person: the answer is 202, and nothing is queued until then.',
    access: { permission: 'devices:execute', mfa: true },
    audit: { oneOf: ['device.command.queue', 'approval.request'] },
    payload: bulkCommand,
    response: bulkResult,
    answers: { 202: bulkPending },
    errors: [
      ...['USE_DEDICATED_ENDPOINT', 'NO_ELIGIBLE_TARGETS', 'MFA_VERIFICATION_REQUIRED', 'ONE_ORGANIZATION_AT_A_TIME'],
      'APPROVAL_LIMIT_REACHED',
    ],
    handler: (ctx, input) => sendBulk(ctx, input.payload),
  }),
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/commands/{commandId}',
    summary: 'Reads a command with its output',
    access: { permission: 'devices:read' },
    params: both,
    response: Joi.object({ data: commandWithOutput.required() }),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => readCommand(ctx, input.params.id, input.params.commandId),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/commands/{commandId}/cancel',
    summary:
      'Cancels a command: at once while it waits; otherwise the agent is asked to stop it, if its type allows that',
    access: { permission: 'devices:execute' },
    audit: 'device.command.cancel',
    params: both,
    response: wrapped,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, input) => cancelCommand(ctx, input.params.id, input.params.commandId),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/run-script',
    summary: 'Runs a script on a device without storing it in the script library',
    access: { permission: 'scripts:execute' },
    audit: 'script.execute',
    params,
    payload: scriptRun,
    response: wrapped,
    status: 201,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, input) => runScript(ctx, input.params.id, input.payload),
  }),
];
