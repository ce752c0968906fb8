/** An MSP, an enterprise's IT team or an internal team: the owner of organizations. */

import Joi from 'joi';
import { Model, named } from '#core';
import { partnerSettings } from './partner-settings.ts';
import { ssoConfig } from './sso-config.ts';

export const PARTNER_TYPES = ['msp', 'enterprise', 'internal'];
export const PARTNER_PLANS = ['free', 'starter', 'community', 'pro', 'enterprise', 'unlimited'];
export const PARTNER_STATUSES = ['pending', 'active', 'suspended', 'churned'];

export interface PartnerCreate {
  name: string;
  slug: string;
  type: string;
  plan: string;
  status: string;
  maxOrganizations?: number | null;
  maxDevices?: number | null;
  settings?: Record<string, unknown>;
  ssoConfig?: Record<string, unknown> | null;
  billingEmail?: string | null;
}
export type PartnerUpdate = Partial<PartnerCreate>;
export type OwnPartnerUpdate = Pick<PartnerUpdate, 'name' | 'billingEmail' | 'settings'>;

export class Partner extends Model implements PartnerCreate {
  static override tableName = 'partners';
  static override orgColumn = null;
  static override jsonAttributes = ['settings', 'ssoConfig'];
  declare id: string;
  declare name: string;
  declare slug: string;
  declare type: string;
  declare plan: string;
  declare status: string;
  declare maxOrganizations: number | null;
  declare maxDevices: number | null;
  declare settings: Record<string, unknown>;
  declare ssoConfig: Record<string, unknown> | null;
  declare billingEmail: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare deletedAt: Date | null;
}

const free = Joi.object().unknown();
const name = Joi.string().trim().min(1).max(255);
/** Lower-case letters, digits and single dashes: safe in a URL. */
export const slug = Joi.string()
  .pattern(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  .max(100)
  .messages({ 'string.pattern.base': '{{#label}} may hold lowercase letters, digits and single hyphens' });
const cap = Joi.number().integer().min(0).max(2_147_483_647).allow(null);
const billingEmail = Joi.string().trim().email().max(255).allow(null);

export const partnerShape = named(
  'Partner',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    slug: Joi.string().required(),
    type: Joi.string()
      .valid(...PARTNER_TYPES)
      .required(),
    plan: Joi.string()
      .valid(...PARTNER_PLANS)
      .required(),
    status: Joi.string()
      .valid(...PARTNER_STATUSES)
      .required(),
    maxOrganizations: Joi.number().allow(null).required(),
    maxDevices: Joi.number().allow(null).required(),
    settings: free.required(),
    ssoConfig: free.allow(null).required(),
    billingEmail: Joi.string().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
    deletedAt: Joi.date().iso().allow(null).required(),
  }),
);
const changeable = {
  type: Joi.string().valid(...PARTNER_TYPES),
  plan: Joi.string().valid(...PARTNER_PLANS),
  status: Joi.string().valid(...PARTNER_STATUSES),
  maxOrganizations: cap,
  maxDevices: cap,
  settings: partnerSettings,
  ssoConfig: ssoConfig.allow(null),
  billingEmail,
};
export const partnerUpdate = named('PartnerUpdate', Joi.object<PartnerUpdate, true>({ name, slug, ...changeable }));
export const partnerCreate = named(
  'PartnerCreate',
  Joi.object<PartnerCreate, true>({
    ...changeable,
    name: name.required(),
    slug: slug.required(),
    type: changeable.type.default('msp'),
    plan: changeable.plan.default('free'),
    // An administrator provisions it; registrations begin as pending.
    status: changeable.status.default('active'),
  }),
);
export const ownPartnerUpdate = named(
  'OwnPartnerUpdate',
  Joi.object<OwnPartnerUpdate, true>({ name, billingEmail, settings: partnerSettings }),
);
