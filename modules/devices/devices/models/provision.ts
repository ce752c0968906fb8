/** A device that is expected: what people say of it in advance, and what they get for its machine. */
import Joi from 'joi';
import { named } from '#core';
import type { OsType } from './device.ts';
import { DEVICE_ROLES, OS_TYPES } from './device.ts';
import { MOST_TAGS } from './tag.ts';

export interface ProvisionOrder {
  orgId?: string;
  siteId?: string;
  hostname: string;
  osType: OsType;
  displayName?: string;
  tags?: string[];
  deviceRole?: string;
  groupIds?: string[];
  expiresInMinutes: number;
  allowDuplicate: boolean;
}
export const provisionOrder = named(
  'DeviceProvision',
  Joi.object<ProvisionOrder, true>({
    orgId: Joi.string().uuid().description('Required from callers who reach several organizations'),
    siteId: Joi.string().uuid().description("The organization's default or only site when absent"),
    hostname: Joi.string().trim().min(1).max(255).required(),
    osType: Joi.string()
      .valid(...OS_TYPES)
      .required(),
    displayName: Joi.string().trim().min(1).max(255),
    tags: Joi.array().items(Joi.string().max(255)).max(MOST_TAGS),
    deviceRole: Joi.string().valid(...DEVICE_ROLES),
    groupIds: Joi.array()
      .items(Joi.string().uuid())
      .unique()
      .max(20)
      .description('Static device groups that the device belongs to from the beginning'),
    expiresInMinutes: Joi.number().integer().min(5).max(10_080).default(60),
    allowDuplicate: Joi.boolean().default(false).description('Also when a device of this name is there already'),
  }),
);

export const provisioned = named(
  'DeviceProvisioned',
  Joi.object({
    deviceId: Joi.string().uuid().required(),
    enrollment: Joi.object({
      token: Joi.string().hex().length(64).required().description('For one machine, once; it is not shown again'),
      expiresAt: Joi.date().iso().required(),
      serverUrl: Joi.string().required(),
      installCommand: Joi.string().required(),
    }).required(),
  }),
);
