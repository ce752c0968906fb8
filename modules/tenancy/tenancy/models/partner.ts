/** An MSP, an enterprise's IT team or an internal team: the owner of organizations. */

import Joi from 'joi';
import { column, defineTable, emailAddress, type InputOf, named } from '#core';
import { partnerSettings } from './partner-settings.ts';
import { ssoConfig } from './sso-config.ts';

export const PARTNER_TYPES = ['msp', 'enterprise', 'internal'];
export const PARTNER_PLANS = ['free', 'starter', 'community', 'pro', 'enterprise', 'unlimited'];
export const PARTNER_STATUSES = ['pending', 'active', 'suspended', 'churned'];

/** Lower-case letters, digits and single dashes: safe in a URL. */
export const slug = Joi.string()
  .pattern(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  .max(100)
  .messages({ 'string.pattern.base': '{{#label}} may hold lowercase letters, digits and single hyphens' });
const limit = Joi.number().integer().min(0).max(2_147_483_647);

const partners = defineTable('partners', {
  id: column.uuid(),
  name: column.text(Joi.string().trim().min(1).max(255)),
  slug: column.text(slug),
  type: column.oneOf(...PARTNER_TYPES),
  plan: column.oneOf(...PARTNER_PLANS),
  status: column.oneOf(...PARTNER_STATUSES),
  maxOrganizations: column.nullable(column.number(limit)),
  maxDevices: column.nullable(column.number(limit)),
  settings: column.object(partnerSettings),
  ssoConfig: column.nullable(column.object(ssoConfig)),
  billingEmail: column.nullable(column.text(emailAddress)),
  createdAt: column.time(),
  updatedAt: column.time(),
  deletedAt: column.nullable(column.time()),
});

export class Partner extends partners.Model {
  static override orgColumn = null;
  static override jsonAttributes = ['settings', 'ssoConfig'];
}

export const partnerShape = named('Partner', partners.answer());

const CHANGEABLE = [
  'type',
  'plan',
  'status',
  'maxOrganizations',
  'maxDevices',
  'settings',
  'ssoConfig',
  'billingEmail',
] as const;
export const partnerUpdate = named('PartnerUpdate', partners.input(['name', 'slug', ...CHANGEABLE]));
export const partnerCreate = named(
  'PartnerCreate',
  partners.input([...CHANGEABLE, 'name', 'slug'], {
    required: ['name', 'slug'],
    // An administrator provisions it; registrations begin as pending.
    defaults: { type: 'msp', plan: 'free', status: 'active' },
  }),
);
export const ownPartnerUpdate = named('OwnPartnerUpdate', partners.input(['name', 'billingEmail', 'settings']));
export type PartnerCreate = InputOf<typeof partnerCreate>;
export type PartnerUpdate = InputOf<typeof partnerUpdate>;
export type OwnPartnerUpdate = InputOf<typeof ownPartnerUpdate>;
