/** A device that is created before its agent enrolls: request, and response with the token for its machine. */
import Joi from 'joi';
import { named } from '#core';
import type { OsType } from './device.ts';
import { DEVICE_ROLES, OS_TYPES } from './device.ts';
import { MAX_TAGS } from './tag.ts';

export interface ProvisionRequest {
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
export const provisionRequest = named(
  'DeviceProvision',
  Joi.object<ProvisionRequest, true>({
    orgId: Joi.string().uuid().description('Required from callers who reach several organizations'),
    siteId: Joi.string().uuid().description("The organization's default or only site when absent"),
    hostname: Joi.string().trim().min(1).max(255).required(),
    osType: Joi.string()
      .valid(...OS_TYPES)
      .required(),
    displayName: Joi.string().trim().min(1).max(255),
    tags: Joi.array().items(Joi.string().max(255)).max(MAX_TAGS),
    deviceRole: Joi.string().valid(...DEVICE_ROLES),
    groupIds: Joi.array()
      .items(Joi.string().uuid())
      .unique()
      .max(20)
      .description('Static device groups that the device joins at once'),
    expiresInMinutes: Joi.number().integer().min(5).max(10_080).default(60),
    allowDuplicate: Joi.boolean().default(false).description('Allows a device with the host name of an existing one'),
  }),
);

export const provisioned = named(
  'DeviceProvisioned',
  Joi.object({
    deviceId: Joi.string().uuid().required(),
    enrollment: Joi.object({
      token: Joi.string().hex().length(64).required().description('Works once, for one machine; it is not shown again'),
      expiresAt: Joi.date().iso().required(),
      serverUrl: Joi.string().required(),
      installCommand: Joi.string()
        .allow(null)
        .required()
        .description(
          'One line: for sh on Linux and macOS, for the PowerShell of an administrator on Windows. It checks the SHA-256 of the ' +
            'installer and passes the token in the environment. Null where this server has no installer',
        ),
    }).required(),
  }),
);
