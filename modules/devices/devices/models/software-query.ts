/** The query of GET /software/inventory, and its response. */
import Joi from 'joi';
import { searchText, type TrackedQuery, trackedQuery } from '#core';
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
  search: searchText(255).description('Part of the name or the vendor'),
  name: text.description('The exact name, in any case'),
  vendor: text.description('The exact vendor, in any case'),
  version: text.description('Only this version'),
  groupBy: Joi.string()
    .valid('name', 'none')
    .default('name')
    .description('Each name once with its versions, or each installation; changes are always installations'),
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
