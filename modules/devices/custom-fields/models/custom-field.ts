/** The definition of a custom field, owned by an organization or by a partner for all of its organizations. */

import Joi from 'joi';
import { Model, named } from '#core';
import { isPattern } from './pattern.ts';

export type FieldType = 'text' | 'number' | 'boolean' | 'dropdown' | 'date';
export type FieldValue = string | number | boolean;
export interface FieldOptions {
  choices?: { value: string; label: string }[];
  /** Length for text, value for number, `YYYY-MM-DD` for date. */
  min?: number | string;
  max?: number | string;
  pattern?: string;
  placeholder?: string;
  multiline?: boolean;
  unit?: string;
}
export interface FieldChanges {
  name?: string;
  options?: FieldOptions;
  required?: boolean;
  defaultValue?: FieldValue | null;
  deviceTypes?: string[] | null;
  editableBy?: 'user' | 'script' | 'both';
  showInList?: boolean;
  searchable?: boolean;
  showInPortal?: boolean;
  sortOrder?: number;
  description?: string | null;
}
export interface FieldCreate extends FieldChanges {
  orgId?: string;
  partnerId?: string;
  name: string;
  fieldKey: string;
  type: FieldType;
}
export interface FieldUpdate extends FieldChanges {
  fieldKey?: string;
  type?: string;
  force?: boolean;
  mapTo?: Record<string, string>;
}

export class CustomField extends Model {
  static override tableName = 'custom_fields';
  static override partnerOwned = true;
  // Not defaultValue: objection would read the text "5" in it as a number. stored() serializes it.
  static override jsonAttributes = ['options'];
  declare id: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare name: string;
  declare fieldKey: string;
  declare type: FieldType;
  declare options: FieldOptions;
  declare required: boolean;
  declare defaultValue: FieldValue | null;
  declare deviceTypes: string[] | null;
  declare editableBy: 'user' | 'script' | 'both';
  declare showInList: boolean;
  declare searchable: boolean;
  declare showInPortal: boolean;
  declare sortOrder: number;
  declare description: string | null;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare deletedAt: Date | null;
}

/** Changes in the form for the table, where the default is JSON. */
export const stored = ({ defaultValue, ...rest }: FieldChanges): Partial<CustomField> =>
  ({
    ...rest,
    ...(defaultValue == null ? { defaultValue } : { defaultValue: JSON.stringify(defaultValue) }),
  }) as Partial<CustomField>;

export const TYPES = ['text', 'number', 'boolean', 'dropdown', 'date'];
export const DEVICE_TYPES = ['windows', 'macos', 'linux'];
const words = (max: number) => Joi.string().trim().max(max);
const limit = Joi.alternatives(Joi.number(), Joi.string().isoDate().max(10));
export const fieldOptions = named(
  'CustomFieldOptions',
  Joi.object<FieldOptions, true>({
    choices: Joi.array()
      .items(Joi.object({ value: words(100).min(1).required(), label: words(200).min(1).required() }))
      .min(1)
      .max(200)
      .unique('value'),
    min: limit,
    max: limit,
    pattern: Joi.string()
      .max(200)
      .custom((value: string, helpers) => (isPattern(value) ? value : helpers.error('any.invalid')))
      .messages({ 'any.invalid': '{{#label}} must be a regular expression in RE2 syntax' })
      .description(
        'A regular expression in RE2 syntax that must match the whole text; no look-arounds or back-references',
      ),
    placeholder: words(200),
    multiline: Joi.boolean(),
    unit: words(50),
  }),
);
const changes = {
  name: words(100).min(1),
  options: fieldOptions,
  required: Joi.boolean(),
  defaultValue: Joi.alternatives(Joi.string().max(10_000), Joi.number(), Joi.boolean()).allow(null),
  deviceTypes: Joi.array()
    .items(Joi.string().valid(...DEVICE_TYPES))
    .min(1)
    .unique()
    .allow(null),
  editableBy: Joi.string().valid('user', 'script', 'both'),
  showInList: Joi.boolean(),
  searchable: Joi.boolean(),
  showInPortal: Joi.boolean(),
  sortOrder: Joi.number().integer().min(-1_000_000).max(1_000_000),
  description: words(500).allow(null, ''),
};

export const fieldCreate = named(
  'CustomFieldCreate',
  Joi.object<FieldCreate, true>({
    ...changes,
    orgId: Joi.string().uuid(),
    partnerId: Joi.string().uuid(),
    name: changes.name.required(),
    fieldKey: Joi.string()
      .pattern(/^[a-z][a-z0-9_]{0,99}$/)
      .required(),
    type: Joi.string()
      .valid(...TYPES)
      .required(),
  }),
);
export const fieldUpdate = named(
  'CustomFieldUpdate',
  Joi.object<FieldUpdate, true>({
    ...changes,
    fieldKey: Joi.string().max(100).description('Not accepted: a key never changes'),
    type: Joi.string().max(100).description('Not accepted: a type never changes'),
    force: Joi.boolean().description('Removes choices even if devices have them'),
    mapTo: Joi.object<Record<string, string>>({})
      .pattern(words(100).min(1), words(100).min(1))
      .min(1)
      .max(200)
      .description('With options: replacements for removed choices in the values of devices'),
  }),
);

export const fieldShape = named(
  'CustomField',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().allow(null).required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    inherited: Joi.boolean().required().description("The partner's, seen from an organization"),
    name: Joi.string().required(),
    fieldKey: Joi.string().required(),
    type: Joi.string()
      .valid(...TYPES)
      .required(),
    options: Joi.object().unknown().required(),
    required: Joi.boolean().required(),
    defaultValue: Joi.alternatives(Joi.string().allow(''), Joi.number(), Joi.boolean()).allow(null).required(),
    deviceTypes: Joi.array().items(Joi.string()).allow(null).required(),
    editableBy: Joi.string().required(),
    showInList: Joi.boolean().required(),
    searchable: Joi.boolean().required(),
    showInPortal: Joi.boolean().required(),
    sortOrder: Joi.number().required(),
    description: Joi.string().allow(null, '').required(),
    createdBy: Joi.string().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
