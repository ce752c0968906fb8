/** Log lines: those of plugins, and those of the host about them. */
import Joi from 'joi';
import { Model } from '#core';

export const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

export class LogLine extends Model {
  static override tableName = 'plugin_logs';
  static override partnerOwned = true;
  static override jsonAttributes = ['fields'];
  declare id: string;
  declare installationId: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare level: Level;
  declare message: string;
  declare fields: Record<string, unknown> | null;
  declare hook: string | null;
  declare invocationId: string | null;
  declare durationMs: number | null;
  declare timestamp: Date;
}

export const logShape = Joi.object({
  id: Joi.string().uuid().required(),
  orgId: Joi.string().uuid().allow(null).required().description('Null for steps that concern all of a partner'),
  level: Joi.string()
    .valid(...LEVELS)
    .required(),
  message: Joi.string().allow('').required(),
  fields: Joi.object().unknown().allow(null).required(),
  hook: Joi.string().allow(null).required(),
  invocationId: Joi.string().allow(null).required(),
  durationMs: Joi.number().integer().allow(null).required(),
  timestamp: Joi.date().iso().required(),
});
