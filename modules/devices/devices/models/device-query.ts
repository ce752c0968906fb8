/** The query of GET /devices. */
import Joi from 'joi';
import { sinceQuery } from '#core';
import { OS_TYPES, STATUSES } from './device.ts';

export interface DeviceListQuery {
  page?: number;
  limit: number;
  cursor?: string;
  /** With `cursor` in the same form: the changes instead of a page. */
  updatedSince?: string;
  include?: 'details';
  sort: 'hostname' | 'lastSeen' | 'enrolled';
  sortDir: 'asc' | 'desc';
  orgIds?: string[];
  siteIds?: string[];
  groupIds?: string[];
  includeDecommissioned: boolean;
  includeTotal: boolean;
  search?: string;
  status?: string[];
  osType?: string[];
  tag?: string;
  filterId?: string;
}

/** A comma list, a repeated parameter, or both; every part must match. */
function list(part: Joi.StringSchema, what: string) {
  return Joi.any()
    .custom((value: unknown, helpers) => {
      const parts = [value].flat().flatMap((one) => String(one).split(','));
      const { error, value: checked } = Joi.array().items(part).min(1).max(1000).validate(parts);
      return error ? helpers.error('any.invalid') : checked;
    })
    .messages({ 'any.invalid': `{{#label}} must be ${what}, separated by commas or repeated` })
    .description(`${what}, separated by commas or repeated`);
}
const clamp = (low: number, high: number) => (value: number) => Math.min(high, Math.max(low, value));
const ids = list(Joi.string().uuid().required(), 'ids');

export const deviceListQuery = Joi.object<DeviceListQuery>({
  page: Joi.number().unsafe().integer().custom(clamp(1, 1_000_000)).description('Asks for the page form'),
  limit: Joi.number()
    .unsafe()
    .integer()
    .custom(clamp(1, 1000))
    .default(50)
    .description('Rows a page, 1 to 1000, or to 500 in the page form and of changes; values outside are clamped'),
  cursor: Joi.string().allow('').max(1000).description('Position given by the answer before; not together with page'),
  ...sinceQuery,
  include: Joi.string().valid('details').description('With updatedSince: each device as GET /devices/{id} shows it'),
  sort: Joi.string()
    .valid('hostname', 'lastSeen', 'enrolled')
    .default('hostname')
    .description('What the list is ordered by'),
  sortDir: Joi.string().valid('asc', 'desc').default('asc').description('Ascending or descending'),
  orgIds: ids,
  siteIds: ids,
  groupIds: ids,
  includeDecommissioned: Joi.boolean().default(false).description('true: also devices that have been decommissioned'),
  includeTotal: Joi.boolean().default(false).description('true: with the number of all devices that match'),
  search: Joi.string().trim().min(2).max(255).description('In host name, display name, serial number and addresses'),
  status: list(Joi.string().valid(...STATUSES), STATUSES.join(', ')),
  osType: list(Joi.string().valid(...OS_TYPES), OS_TYPES.join(', ')),
  tag: Joi.string().trim().min(1).max(50).description('Only devices with this tag'),
  filterId: Joi.string().uuid().description('A saved filter, which the devices must match as well'),
})
  .oxor('page', 'cursor')
  .messages({ 'object.oxor': 'page and cursor are two forms of this list and cannot be used together' });
