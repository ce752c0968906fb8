/** A customer of a partner: the tenant that owns sites, devices and everything below them. */

import Joi from 'joi';
import { column, defineTable, type InputOf, named, openObject } from '#core';
import { organizationSettings } from './organization-settings.ts';
import { slug } from './partner.ts';
import { ssoConfig } from './sso-config.ts';

export const ORGANIZATION_TYPES = ['customer', 'internal'];
export const ORGANIZATION_STATUSES = ['active', 'suspended', 'trial', 'churned'];

const organizations = defineTable('organizations', {
  id: column.uuid(),
  partnerId: column.uuid(),
  name: column.text(Joi.string().trim().min(1).max(255)),
  slug: column.text(slug),
  type: column.oneOf(...ORGANIZATION_TYPES),
  status: column.oneOf(...ORGANIZATION_STATUSES),
  maxDevices: column.nullable(column.number(Joi.number().integer().min(0).max(2_147_483_647))),
  settings: column.object(organizationSettings),
  ssoConfig: column.nullable(column.object(ssoConfig)),
  contractStart: column.nullable(column.time()),
  contractEnd: column.nullable(column.time()),
  billingContact: column.nullable(column.object(openObject(16_384))),
  createdAt: column.time(),
  updatedAt: column.time(),
  deletedAt: column.nullable(column.time()),
});

export class Organization extends organizations.Model {
  static override orgColumn = 'id';
  static override jsonAttributes = ['settings', 'ssoConfig', 'billingContact'];
}

/** What GET /orgs/ shows: enough to choose one, nothing of contracts, sign-on or settings. */
export const organizationBrief = named(
  'OrganizationBrief',
  organizations.answer(['id', 'partnerId', 'name', 'slug', 'type', 'status']),
);
export const organizationShape = named('Organization', organizations.answer());

const CHANGEABLE = [
  'type',
  'status',
  'maxDevices',
  'settings',
  'ssoConfig',
  'contractStart',
  'contractEnd',
  'billingContact',
] as const;
export const organizationUpdate = named('OrganizationUpdate', organizations.input(['name', 'slug', ...CHANGEABLE]));
export const organizationCreate = named(
  'OrganizationCreate',
  organizations.input([...CHANGEABLE, 'partnerId', 'name', 'slug'], { required: ['name', 'slug'] }),
);
export type OrganizationUpdate = InputOf<typeof organizationUpdate>;
export type OrganizationCreate = InputOf<typeof organizationCreate>;

export const organizationOrder = named(
  'OrganizationOrder',
  Joi.object<{ organizationOrder: string[] }>({
    organizationOrder: Joi.array().items(Joi.string().uuid()).max(10_000).required(),
  }),
);
