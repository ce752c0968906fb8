/** The software and services of a device. */
import Joi from 'joi';
import { Model, named } from '#core';

export class Software extends Model {
  static override tableName = 'device_software';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare deviceId: string;
}
/** Has no table of its own: services/inventory/software-inventory.ts builds its rows. */
export class SoftwareTitle extends Model {
  static override tableName = 'titles';
  declare name: string;
  declare vendor: string | null;
  declare deviceCount: number;
  declare versions: { version: string; n: number }[];
}
export class Service extends Model {
  static override tableName = 'device_services';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare deviceId: string;
}

const text = Joi.string().allow(null, '').required();
export const softwareShape = named(
  'DeviceSoftware',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    version: text,
    vendor: text,
    installDate: text,
    installLocation: text,
    firstSeenAt: Joi.date().iso().required(),
  }),
);
export const serviceShape = named(
  'DeviceService',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    displayName: text,
    state: Joi.string().required(),
    startType: text,
  }),
);

/** The latest report of each kind; `source` is null when the agent has one source only. */
export const reportShape = named(
  'DeviceReports',
  Joi.object({
    data: Joi.object({
      deviceId: Joi.string().uuid().required(),
      parts: Joi.array()
        .items(
          Joi.object({
            kind: Joi.string().required(),
            source: Joi.string().allow(null).required(),
            takenAt: Joi.date().iso().required(),
            body: Joi.object().unknown(),
          }),
        )
        .required(),
    }).required(),
  }),
);
