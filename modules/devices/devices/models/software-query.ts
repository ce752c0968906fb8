/** What GET /software/inventory may be asked, and how it answers. */
import Joi from 'joi';
import { type TrackedQuery, trackedQuery } from '#core';
import { softwareShape } from './inventory.ts';

export interface SoftwareQuery extends TrackedQuery {
  orgId?: string;
  siteId?: string;
  search?: string;
  name?: string;
  vendor?: string;
  version?: string;
  groupBy: 'name' | 'none';
}
const text = Joi.string().trim().min(1).max(255);

export const softwareQuery = Joi.object<SoftwareQuery>({
  ...trackedQuery(100, 500),
  orgId: Joi.string().uuid(),
  siteId: Joi.string().uuid(),
  search: text.description('Part of the name or the vendor'),
  name: text.description('Exactly, in any case'),
  vendor: text.description('Exactly, in any case'),
  version: text.description('Only this version'),
  groupBy: Joi.string()
    .valid('name', 'none')
    .default('name')
    .description('Once a name with its versions, or each installation; changes are of installations'),
});

export const installationShape = softwareShape.keys({
  deviceId: Joi.string().uuid().required(),
  orgId: Joi.string().uuid().required(),
});
export const titleShape = Joi.object({
  name: Joi.string().required(),
  vendor: Joi.string().allow(null).required(),
  deviceCount: Joi.number().integer().required(),
  versions: Joi.array()
    .items(Joi.object({ version: Joi.string().allow('').required(), n: Joi.number().integer().required() }))
    .required(),
});
