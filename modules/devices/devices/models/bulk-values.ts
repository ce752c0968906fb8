/** The same custom values for many devices: request and outcome. */
import Joi from 'joi';
import { named, openObject } from '#core';

export interface BulkValues {
  deviceIds: string[];
  values: Record<string, unknown>;
}
const uuid = Joi.string().uuid();
export const bulkValues = named(
  'BulkCustomFields',
  Joi.object<BulkValues, true>({
    deviceIds: Joi.array().items(uuid).min(1).max(500).unique().required(),
    values: openObject().min(1).max(100).required().description('Merged by key; null removes a value'),
  }),
);
export const bulkValuesAnswer = named(
  'BulkCustomFieldsResult',
  Joi.object({
    updated: Joi.number().integer().required(),
    failed: Joi.array()
      .items(
        Joi.object({
          deviceId: uuid.required(),
          hostname: Joi.string().allow(null).required(),
          code: Joi.string().required(),
          message: Joi.string().required(),
          details: Joi.array().items(Joi.any()),
        }),
      )
      .required(),
  }),
);
