/** The query of GET /devices. */
import Joi from 'joi';
import { searchText, sinceQuery } from '#core';
import { OS_TYPES, STATUSES } from './device.ts';

export interface DeviceListQuery {
  page?: number;
  limit: number;
  cursor?: string;
  /** In the cursor form: a list of changes instead of pages. */
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

/** A comma-separated list, a repeated parameter, or both; every part must match. */
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
  page: Joi.number().unsafe().integer().custom(clamp(1, 1_000_000)).description('Selects the page form'),
  limit: Joi.number()
    .unsafe()
    .integer()
    .custom(clamp(1, 1000))
    .default(50)
    .description(
      'Rows in one response, 1 to 1000, or to 500 in the page form and of changes; other values are clamped',
    ),
  cursor: Joi.string()
    .allow('')
    .max(1000)
    .description('Position returned by the previous response; not together with page'),
  ...sinceQuery,
  include: Joi.string().valid('details').description('With updatedSince: each device as GET /devices/{id} shows it'),
  sort: Joi.string().valid('hostname', 'lastSeen', 'enrolled').default('hostname').description('The sort key'),
  sortDir: Joi.string().valid('asc', 'desc').default('asc').description('Ascending or descending'),
  orgIds: ids,
  siteIds: ids,
  groupIds: ids,
  includeDecommissioned: Joi.boolean().default(false).description('Includes decommissioned devices'),
  includeTotal: Joi.boolean().default(false).description('Adds the number of all devices that match'),
  search: searchText(255, 2).description('Searches host name, display name, serial number and addresses'),
  status: list(Joi.string().valid(...STATUSES), STATUSES.join(', ')),
  osType: list(Joi.string().valid(...OS_TYPES), OS_TYPES.join(', ')),
  tag: Joi.string().trim().min(1).max(50).description('Only devices with this tag'),
  filterId: Joi.string().uuid().description('A saved filter that the devices must also match'),
})
  .oxor('page', 'cursor')
  .messages({ 'object.oxor': 'page and cursor are two forms of this list and cannot be used together' });
