/** Which devices something is for, as the API takes it. The module `targets` checks and resolves it. */
import Joi from 'joi';
import { onlyWhere } from '../../only-where.ts';
import { named } from './named.ts';
import { openObject } from './open-object.ts';

export const TARGET_TYPES = ['all', 'organizations', 'sites', 'groups', 'tags', 'devices', 'filter'] as const;

export interface Target {
  type: (typeof TARGET_TYPES)[number];
  /** Of organizations, sites, groups or devices. */
  ids?: string[];
  /** Devices with any of them. */
  tags?: string[];
  /** Conditions as those of `/filters`. */
  filter?: Record<string, unknown>;
  /** A saved filter, whose conditions are copied: later changes of it do not count. */
  filterId?: string;
  exclude?: { deviceIds?: string[]; siteIds?: string[]; groupIds?: string[]; tags?: string[] };
}

const MAX_IDS = 10_000;
const uuid = Joi.string().uuid();
const ids = Joi.array().items(uuid).min(1).max(MAX_IDS).unique();
const tags = Joi.array().items(Joi.string().trim().min(1).max(50)).min(1).max(100).unique();
const only = <S extends Joi.Schema>(types: readonly string[], schema: S) =>
  onlyWhere(schema, ({ type }) => types.includes(String(type)));

/** What the type needs. */
const NEEDS: Partial<Record<Target['type'], 'ids' | 'tags'>> = {
  ...({ organizations: 'ids', sites: 'ids', groups: 'ids', devices: 'ids', tags: 'tags' } as const),
};

export const target = named(
  'Target',
  Joi.object<Target>({
    type: Joi.string()
      .valid(...TARGET_TYPES)
      .required(),
    ids: only(['organizations', 'sites', 'groups', 'devices'], ids),
    tags: only(['tags'], tags).description('Devices with any of these tags'),
    filter: only(['filter'], openObject()).description('Conditions as those of a saved filter'),
    filterId: only(['filter'], uuid).description('A saved filter; its conditions are copied'),
    exclude: Joi.object({ deviceIds: ids, siteIds: ids, groupIds: ids, tags }).min(1),
  }).custom((given: Target, helpers) => {
    const { type, filter, filterId } = given;
    const need = NEEDS[type];
    if (need && !given[need]) return helpers.message({ custom: `{{#label}} of the type ${type} must have ${need}` });
    if (type !== 'filter' || Boolean(filter) !== Boolean(filterId)) return given;
    return helpers.message({ custom: '{{#label}} must have exactly one of filter and filterId' });
  }),
);
