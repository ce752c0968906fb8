/** A condition tree that an organization has saved under a name. */
import Joi from 'joi';
import { Model, named, openObject } from '#core';
import type { Group } from './condition.ts';
import { MAX_CONDITIONS, MAX_LEVELS, MAX_PATTERN_LENGTH, MAX_TEXT_LENGTH, MAX_VALUES } from './condition.ts';

export interface FilterChanges {
  name?: string;
  description?: string | null;
  conditions?: Group;
}
export interface FilterCreate extends FilterChanges {
  orgId?: string;
  name: string;
  conditions: Group;
}

export class SavedFilter extends Model {
  static override tableName = 'saved_filters';
  static override jsonAttributes = ['conditions'];
  declare id: string;
  declare orgId: string;
  declare name: string;
  declare description: string | null;
  declare conditions: Group;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/**
 * Checks the root only: services/trees.ts checks nested groups and conditions, because it limits the depth and knows the fields.
 */
export const group = named(
  'FilterConditions',
  Joi.object<Group>({
    operator: Joi.string().valid('AND', 'OR').required(),
    conditions: Joi.array().items(openObject(1_000_000)).min(1).max(MAX_CONDITIONS).required(),
  }).description(
    `Each of conditions is { field, operator, value } or another group { operator, conditions }; at most ${MAX_LEVELS} levels, ` +
      `${MAX_CONDITIONS} conditions, ${MAX_VALUES} values in a list, texts of ${MAX_TEXT_LENGTH} characters and regular ` +
      `expressions of ${MAX_PATTERN_LENGTH}`,
  ),
);
// PostgreSQL cannot store NUL in text.
const text = Joi.string()
  .normalize('NFC')
  .pattern(/^[^\0]*$/);
const name = text.trim().min(1).max(200);
const description = text.max(1000).allow(null, '');

export const filterCreate = named(
  'FilterCreate',
  Joi.object<FilterCreate, true>({
    orgId: Joi.string()
      .uuid()
      .description('Required for partner and system callers; organization callers always use their own'),
    name: name.required(),
    description,
    conditions: group.required(),
  }),
);
export const filterUpdate = named(
  'FilterUpdate',
  Joi.object<FilterChanges, true>({ name, description, conditions: group }),
);

export const filterShape = named(
  'Filter',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().required(),
    name: Joi.string().required(),
    description: Joi.string().allow(null, '').required(),
    conditions: group.required(),
    createdBy: Joi.string().uuid().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
