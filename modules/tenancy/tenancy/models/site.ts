/** A location of an organization. */

import Joi from 'joi';
import { Model, named, openObject, timezone } from '#core';

export interface SiteFields {
  id: string;
  orgId: string;
  name: string;
  address: Record<string, unknown> | null;
  timezone: string;
  contact: Record<string, unknown> | null;
  settings: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}
export interface SiteCreate {
  orgId: string;
  name: string;
  address?: Record<string, unknown> | null;
  timezone: string;
  contact?: Record<string, unknown> | null;
  settings?: Record<string, unknown>;
}
export type SiteUpdate = Partial<Omit<SiteCreate, 'orgId'>>;

export class Site extends Model implements SiteFields {
  static override tableName = 'sites';
  static override siteColumn = 'id';
  static override jsonAttributes = ['address', 'contact', 'settings'];
  declare id: string;
  declare orgId: string;
  declare name: string;
  declare address: Record<string, unknown> | null;
  declare timezone: string;
  declare contact: Record<string, unknown> | null;
  declare settings: Record<string, unknown>;
  declare createdAt: Date;
  declare updatedAt: Date;
}

const free = Joi.object().unknown();

export const siteShape = named(
  'Site',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().required(),
    name: Joi.string().required(),
    address: free.allow(null).required(),
    timezone: Joi.string().required(),
    contact: free.allow(null).required(),
    settings: free.required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
export const siteCreate = named(
  'SiteCreate',
  Joi.object<SiteCreate, true>({
    orgId: Joi.string().uuid().required(),
    name: Joi.string().trim().min(1).max(255).required(),
    address: openObject(16_384).allow(null),
    timezone: timezone.default('UTC'),
    contact: openObject(16_384).allow(null),
    settings: openObject(16_384),
  }),
);
export const siteUpdate = named(
  'SiteUpdate',
  Joi.object<SiteUpdate, true>({
    name: Joi.string().trim().min(1).max(255),
    address: openObject(16_384).allow(null),
    timezone,
    contact: openObject(16_384).allow(null),
    settings: openObject(16_384),
  }),
);
