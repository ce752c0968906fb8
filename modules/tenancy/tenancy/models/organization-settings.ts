/** The settings of an organization: known keys by their type, all others as they are sent. */
import Joi from 'joi';
import { named, openObject } from '#core';

const flag = Joi.boolean().allow(null);

/**
 * The structure is open: unknown keys are kept for the clients that wrote them. A module's part lies
 * under its name and is checked against that module's schema when it is written (services/settings.ts). Null removes a
 * key.
 */
export const organizationSettings = named(
  'OrganizationSettings',
  openObject(65_536).keys({
    security: openObject(16_384)
      .keys({
        requireMfa: flag,
        allowedMfaMethods: Joi.object({}).pattern(Joi.string().max(50), flag).max(50).allow(null),
      })
      .allow(null),
    defaultSiteId: Joi.string().uuid().allow(null).description('Where machines go whose enrollment key names no site'),
    reenroll: Joi.forbidden().messages({ 'any.unknown': 'settings.devices.reenroll is the name of this setting' }),
  }),
);
