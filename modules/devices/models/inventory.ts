/** What is installed and what runs on a device. */
import Joi from 'joi';
import { Model } from '#core';

export class Software extends Model {
  static override tableName = 'device_software';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare deviceId: string;
}
export class Service extends Model {
  static override tableName = 'device_services';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare deviceId: string;
}

const text = Joi.string().allow(null, '').required();
export const softwareShape = Joi.object({
  id: Joi.string().uuid().required(),
  name: Joi.string().required(),
  version: text,
  vendor: text,
  installDate: text,
  installLocation: text,
  firstSeenAt: Joi.date().iso().required(),
});
export const serviceShape = Joi.object({
  id: Joi.string().uuid().required(),
  name: Joi.string().required(),
  displayName: text,
  state: Joi.string().required(),
  startType: text,
});
