/** The label of one device. */
import { Model, type PageQuery, pageQuery } from '@quartermaster/module-kit';
import Joi from 'joi';

export class AssetLabel extends Model {
  static override tableName = 'acme_asset_labels';
  /** Callers reach the labels of the devices that they reach. */
  static override deviceColumn = 'device_id';
  declare id: string;
  declare orgId: string;
  declare deviceId: string;
  declare label: string;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

const label = Joi.string().trim().min(1).max(40);

export interface LabelQuery extends PageQuery {
  orgId?: string;
  label?: string;
}
export const labelQuery = Joi.object<LabelQuery>({
  ...pageQuery(),
  orgId: Joi.string().uuid(),
  label: label.description('Exactly this one'),
});

export interface LabelCreate {
  deviceId: string;
  label?: string;
}
export const labelCreate = Joi.object<LabelCreate, true>({
  deviceId: Joi.string().uuid().required(),
  label: label.description('The next number where it is left out'),
});

export interface LabelUpdate {
  label: string;
}
export const labelUpdate = Joi.object<LabelUpdate, true>({ label: label.required() });

export const labelShape = Joi.object({
  id: Joi.string().uuid().required(),
  orgId: Joi.string().uuid().required(),
  deviceId: Joi.string().uuid().required(),
  label: Joi.string().required(),
  createdBy: Joi.string().uuid().allow(null).required(),
  createdAt: Joi.date().iso().required(),
  updatedAt: Joi.date().iso().required(),
});
