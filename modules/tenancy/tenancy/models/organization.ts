/** A customer of a partner: the tenant that owns sites, devices and everything below them. */

import Joi from 'joi';
import { Model, named, openObject } from '#core';
import { organizationSettings } from './organization-settings.ts';
import { slug } from './partner.ts';
import { ssoConfig } from './sso-config.ts';

export const ORGANIZATION_TYPES = ['customer', 'internal'];
export const ORGANIZATION_STATUSES = ['active', 'suspended', 'trial', 'churned'];

export interface OrganizationUpdate {
  name?: string;
  slug?: string;
  type?: string;
  status?: string;
  maxDevices?: number | null;
  settings?: Record<string, unknown>;
  ssoConfig?: Record<string, unknown> | null;
  contractStart?: Date | null;
  contractEnd?: Date | null;
  billingContact?: Record<string, unknown> | null;
}
export interface OrganizationCreate extends OrganizationUpdate {
  partnerId?: string;
  name: string;
  slug: string;
}

export class Organization extends Model {
  static override tableName = 'organizations';
  static override orgColumn = 'id';
  static override jsonAttributes = ['settings', 'ssoConfig', 'billingContact'];
  declare id: string;
  declare partnerId: string;
  declare name: string;
  declare slug: string;
  declare type: string;
  declare status: string;
  declare maxDevices: number | null;
  declare settings: Record<string, unknown>;
  declare ssoConfig: Record<string, unknown> | null;
  declare contractStart: Date | null;
  declare contractEnd: Date | null;
  declare billingContact: Record<string, unknown> | null;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare deletedAt: Date | null;
}

const free = Joi.object().unknown();
const name = Joi.string().trim().min(1).max(255);
const type = Joi.string().valid(...ORGANIZATION_TYPES);
const status = Joi.string().valid(...ORGANIZATION_STATUSES);
const changeable = {
  type,
  status,
  maxDevices: Joi.number().integer().min(0).max(2_147_483_647).allow(null),
  settings: organizationSettings,
  ssoConfig: ssoConfig.allow(null),
  contractStart: Joi.date().iso().allow(null),
  contractEnd: Joi.date().iso().allow(null),
  billingContact: openObject(16_384).allow(null),
};

/** What GET /orgs/ shows: enough to choose one, nothing of contracts, sign-on or settings. */
export const organizationBrief = named(
  'OrganizationBrief',
  Joi.object({
    id: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().required(),
    name: Joi.string().required(),
    slug: Joi.string().required(),
    type: type.required(),
    status: status.required(),
  }),
);
export const organizationShape = named(
  'Organization',
  organizationBrief.keys({
    maxDevices: Joi.number().allow(null).required(),
    settings: free.required(),
    ssoConfig: free.allow(null).required(),
    contractStart: Joi.date().iso().allow(null).required(),
    contractEnd: Joi.date().iso().allow(null).required(),
    billingContact: free.allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
    deletedAt: Joi.date().iso().allow(null).required(),
  }),
);
export const organizationUpdate = named(
  'OrganizationUpdate',
  Joi.object<OrganizationUpdate, true>({ name, slug, ...changeable }),
);
export const organizationCreate = named(
  'OrganizationCreate',
  Joi.object<OrganizationCreate, true>({
    ...changeable,
    partnerId: Joi.string().uuid(),
    name: name.required(),
    slug: slug.required(),
  }),
);
export const organizationOrder = named(
  'OrganizationOrder',
  Joi.object<{ organizationOrder: string[] }>({
    organizationOrder: Joi.array().items(Joi.string().uuid()).max(10_000).required(),
  }),
);
