/** One command for many devices: request, and outcome for each device. */
import Joi from 'joi';
import { named, openObject } from '#core';

export interface BulkCommand {
  deviceIds: string[];
  type: string;
  payload?: Record<string, unknown>;
  whenOffline: 'queue' | 'fail';
  reason?: string;
}
const uuid = Joi.string().uuid();
export const bulkCommand = named(
  'BulkCommand',
  Joi.object<BulkCommand, true>({
    deviceIds: Joi.array().items(uuid).min(1).max(500).unique().required(),
    type: Joi.string().max(50).required(),
    payload: openObject(),
    whenOffline: Joi.string().valid('queue', 'fail').default('queue'),
    reason: Joi.string().trim().min(1).max(1000).description('For who approves it, where that is needed'),
  }),
);

const deviceId = uuid.required();
const failed = Joi.array()
  .items(
    Joi.object({
      deviceId,
      hostname: Joi.string().allow(null).required(),
      code: Joi.string().valid('NOT_FOUND', 'SITE_ACCESS_DENIED', 'DECOMMISSIONED', 'INVALID_STATE').required(),
      message: Joi.string().required(),
    }),
  )
  .required();
export const bulkPending = named(
  'BulkCommandPending',
  Joi.object({
    approvalId: uuid.required().description('Read its state at `GET /approvals/{id}`'),
    status: Joi.string().valid('pending_approval').required(),
    expiresAt: Joi.date().iso().required().description('Without a decision until then it is not carried out'),
    deviceCount: Joi.number().integer().required(),
    failed: failed.description('Devices that the approval is not for'),
  }),
);
export const bulkResult = named(
  'BulkCommandResult',
  Joi.object({
    batchId: uuid.required(),
    commands: Joi.array()
      .items(
        Joi.object({
          deviceId,
          hostname: Joi.string().required(),
          commandId: uuid.required(),
          status: Joi.string().required(),
        }),
      )
      .required(),
    skipped: Joi.array()
      .items(
        Joi.object({
          deviceId,
          hostname: Joi.string().required(),
          code: Joi.string()
            .valid('ALREADY_PENDING', 'DEVICE_OFFLINE', 'MAINTENANCE', 'COMMAND_DISABLED', 'POWER_COMMANDS_OFF')
            .required(),
          commandId: uuid,
        }),
      )
      .required(),
    failed,
  }),
);
