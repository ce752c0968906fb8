/** The settings of a partner, and each module's own part. */
import Joi from 'joi';
import { emailAddress, named, openObject, timezone } from '#core';

const time = Joi.string().pattern(/^([01]\d|2[0-3]):[0-5]\d$/, 'HH:MM');
const day = Joi.object({ start: time, end: time, closed: Joi.boolean() }).allow(null);
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const words = (max: number) => Joi.string().trim().max(max).allow('', null);

/** A module's settings lie under its name; services/settings.ts checks them against the module's schema. */
const moduleName = /^[a-z][a-z0-9-]{0,62}$/;
const moduleSettings = openObject(65_536).allow(null);

const known = {
  timezone: timezone.allow(null),
  dateFormat: Joi.string().valid('MM/DD/YYYY', 'DD/MM/YYYY', 'YYYY-MM-DD', null),
  timeFormat: Joi.string().valid('12h', '24h', null),
  language: Joi.string().valid('en', null),
  businessHours: Joi.object({
    preset: Joi.string().valid('24/7', 'business', 'extended', 'custom', null),
    custom: Joi.object(
      Object.fromEntries(days.flatMap((name) => [name, name.slice(0, 3)]).map((name) => [name, day])),
    ).allow(null),
  }).allow(null),
  contact: Joi.object({
    name: words(255),
    email: emailAddress.allow('', null),
    phone: words(50),
    website: words(500),
  }).allow(null),
  organizationOrder: Joi.array()
    .items(Joi.string().uuid())
    .max(10_000)
    .description('As it was read; PATCH /orgs/organizations/order changes it'),
};
/** All but those that lie under the name of a module. */
export const PARTNER_SETTINGS = Object.keys(known);

/** Null removes a key. */
export const partnerSettings = named(
  'PartnerSettings',
  Joi.object<Record<string, unknown>>(known).pattern(moduleName, moduleSettings).max(200),
);
