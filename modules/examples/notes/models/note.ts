/** A note on a device. */
import Joi from 'joi';
import { Model } from '#core';

export class Note extends Model {
  static override tableName = 'notes';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare orgId: string;
  declare deviceId: string;
  declare text: string;
  declare createdAt: Date;
}

export const noteCreate = Joi.object<{ text: string }>({ text: Joi.string().trim().min(1).max(2000).required() });
export const noteShape = Joi.object({
  id: Joi.string().uuid().required(),
  orgId: Joi.string().uuid().required(),
  deviceId: Joi.string().uuid().required(),
  text: Joi.string().required(),
  createdAt: Joi.date().iso().required(),
});
