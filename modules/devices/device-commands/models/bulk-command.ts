/** One command for many devices: request, and outcome for each device. */
import Joi from 'joi';
import { named, openObject } from '#core';

export interface BulkCommand {
  deviceIds: string[];
  type: string;
  payload?: Record<string, unknown>;
  whenOffline: 'queue' | 'fail';
}
const uuid = Joi.string().uuid();
export const bulkCommand = named(
  'BulkCommand',
  Joi.object<BulkCommand, true>({
    deviceIds: Joi.array().items(uuid).min(1).max(500).unique().required(),
    type: Joi.string().max(50).required(),
    payload: openObject(),
    whenOffline: Joi.string().valid('queue', 'fail').default('queue'),
  }),
);

const deviceId = uuid.required();
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
    failed: Joi.array()
      .items(
        Joi.object({
          deviceId,
          hostname: Joi.string().allow(null).required(),
          code: Joi.string().valid('NOT_FOUND', 'SITE_ACCESS_DENIED', 'DECOMMISSIONED', 'INVALID_STATE').required(),
          message: Joi.string().required(),
        }),
      )
      .required(),
  }),
);
