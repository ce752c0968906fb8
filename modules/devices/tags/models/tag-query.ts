/** Queries and answers of /tags. */
import Joi from 'joi';
import { named, type PageQuery, pageQuery } from '#core';

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
// Longer than a tag may be: white space around and within it does not count.
const written = Joi.string()
  .max(255)
  .pattern(/^[^\0]*$/);
const place = { orgId: uuid, siteId: uuid };

export const tagQuery = Joi.object<TagQuery>({
  ...pageQuery(100, 500),
  ...place,
  search: written.trim().max(50).description('A part of the tag'),
  sort: Joi.string().valid('count', 'name').default('count').description('The most frequent first, or by name'),
});
/** A comma never is part of a tag, so a list may be written either way. */
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
  match: Joi.string().valid('any', 'all').default('any').description('Whether a device needs one of the tags, or all'),
});

const MOST_BYTES = 65_536;
const few = Joi.array().items(written).max(20).default([]);
export const bulkChange = named(
  'TagBulkChange',
  Joi.object<BulkChange, true>({
    deviceIds: Joi.array().items(uuid).min(1).max(500).unique(),
    filter: Joi.object()
      .unknown()
      .custom((value: object, helpers) =>
        Buffer.byteLength(JSON.stringify(value)) <= MOST_BYTES ? value : helpers.error('any.invalid'),
      )
      .meta({ maxBytes: MOST_BYTES })
      .description('{ operator, conditions } as in saved filters; at most 5000 devices may match'),
    add: few,
    remove: few,
  }).xor('deviceIds', 'filter'),
);
export const rename = named(
  'TagRename',
  Joi.object<Rename, true>({
    orgId: uuid.description("Required for partner and system callers; an organization's own is its own"),
    from: written.required(),
    to: written.required().description('Where devices have both, they keep one'),
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
      .description('For partner and system callers: the first twenty organizations'),
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
      .description('What names the tag and will name the other one'),
  }),
);
