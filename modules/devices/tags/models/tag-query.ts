/** Queries and responses of /tags. */
import Joi from 'joi';
import { named, type PageQuery, pageQuery, searchText } from '#core';

export interface TagQuery extends PageQuery {
  search?: string;
  orgId?: string;
  siteId?: string;
  sort: 'count' | 'name';
}
export interface TagDevicesQuery extends PageQuery {
  tag: string[];
  match: 'any' | 'all';
  orgId?: string;
  siteId?: string;
}
export interface BulkChange {
  deviceIds?: string[];
  filter?: object;
  add: string[];
  remove: string[];
}
export interface Rename {
  orgId?: string;
  from: string;
  to: string;
}

const uuid = Joi.string().uuid();
// Longer than a stored tag: surplus white space does not count.
const written = Joi.string()
  .max(255)
  .pattern(/^[^\0]*$/);
const place = { orgId: uuid, siteId: uuid };

export const tagQuery = Joi.object<TagQuery>({
  ...pageQuery(100, 500),
  ...place,
  search: searchText(50).description('A part of the tag'),
  sort: Joi.string()
    .valid('count', 'name')
    .default('count')
    .description('By number of devices, highest first, or by name'),
});
/** A tag never contains a comma, so both forms of a list are unambiguous. */
const list = Joi.any()
  .custom((value: unknown, helpers) => {
    const parts = [value].flat().flatMap((one) => String(one).split(','));
    const { error } = Joi.array().items(written.trim().min(1)).min(1).max(50).validate(parts);
    return error ? helpers.error('any.invalid') : parts;
  })
  .messages({ 'any.invalid': '{{#label}} must be tags, separated by commas or repeated' })
  .description('Tags, separated by commas or repeated');
export const tagDevicesQuery = Joi.object<TagDevicesQuery>({
  ...pageQuery(100, 500),
  ...place,
  tag: list.required(),
  match: Joi.string()
    .valid('any', 'all')
    .default('any')
    .description('Devices with any of the tags, or with all of them'),
});

const MAX_BYTES = 65_536;
const few = Joi.array().items(written).max(20).default([]);
export const bulkChange = named(
  'TagBulkChange',
  Joi.object<BulkChange, true>({
    deviceIds: Joi.array().items(uuid).min(1).max(500).unique(),
    filter: Joi.object()
      .unknown()
      .custom((value: object, helpers) =>
        Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES ? value : helpers.error('any.invalid'),
      )
      .meta({ maxBytes: MAX_BYTES })
      .description('{ operator, conditions } as in saved filters; may match at most 5000 devices'),
    add: few,
    remove: few,
  }).xor('deviceIds', 'filter'),
);
export const rename = named(
  'TagRename',
  Joi.object<Rename, true>({
    orgId: uuid.description('Required for partner and system callers; organization callers always use their own'),
    from: written.required(),
    to: written.required().description('The new name; a device that has both tags keeps one'),
  }),
);

export const tagSummary = named(
  'TagSummary',
  Joi.object({
    id: Joi.string().required(),
    name: Joi.string().required(),
    tag: Joi.string().required(),
    deviceCount: Joi.number().integer().required(),
    orgIds: Joi.array()
      .items(uuid)
      .max(20)
      .description('For partner and system callers: the first twenty organizations with the tag'),
  }),
);
const count = Joi.number().integer().required();
export const bulkOutcome = named(
  'TagBulkOutcome',
  Joi.object({
    changed: count,
    unchanged: count,
    failed: Joi.array()
      .items(
        Joi.object({
          deviceId: uuid.required(),
          code: Joi.string().valid('NOT_FOUND', 'DECOMMISSIONED', 'TAG_LIMIT').required(),
        }),
      )
      .required(),
  }),
);
export const renameAccepted = named(
  'TagRenameAccepted',
  Joi.object({
    affected: count.description('Devices that have the tag'),
    references: Joi.array()
      .items(Joi.object({ type: Joi.string().required(), id: uuid.required(), name: Joi.string().required() }))
      .required()
      .description('Objects that refer to the tag, and will refer to the new name'),
  }),
);
