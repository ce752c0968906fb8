/** Reported values of a machine that changed: names, versions, memory, updates that failed. */
import Joi from 'joi';
import { Model, named, type PageQuery, pageQuery } from '#core';

export class DeviceChange extends Model {
  static override tableName = 'device_changes';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare deviceId: string;
  declare orgId: string;
  declare at: Date;
  declare field: string;
  declare before: string | null;
  declare after: string | null;
}

export const changeShape = named(
  'DeviceChange',
  Joi.object({
    id: Joi.string().uuid().required(),
    at: Joi.date().iso().required(),
    field: Joi.string().required(),
    before: Joi.string().allow(null, '').required(),
    after: Joi.string().allow(null, '').required(),
  }),
);

export type ChangeQuery = PageQuery & { field?: string; from?: Date; to?: Date };
export const changeQuery = Joi.object<ChangeQuery>({
  ...pageQuery(),
  field: Joi.string().max(50).description('Only changes of this field'),
  from: Joi.date().iso().description('Earliest time, inclusive'),
  to: Joi.date().iso().description('Latest time, inclusive'),
});
