/** /custom-fields: definitions of custom fields. */

import Joi from 'joi';
import { defineRoute, pageOf, pageQuery, searchText } from '#core';
import { DEVICE_TYPES, fieldCreate, fieldShape, fieldUpdate, TYPES } from '../models/custom-field.ts';
import {
  createField,
  deleteField,
  type FieldQuery,
  listFields,
  type Removal,
  readField,
  updateField,
} from '../services/fields.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const write = { permission: 'devices:write', mfa: true };

export default [
  defineRoute({
    method: 'GET',
    path: '/custom-fields',
    summary: 'Lists custom fields in their order',
    access: { permission: 'devices:read' },
    query: Joi.object<FieldQuery>({
      ...pageQuery(100),
      orgId: Joi.string().uuid().description("An organization's own fields and its partner's"),
      type: Joi.string()
        .valid(...TYPES)
        .description('Only fields of this type'),
      deviceType: Joi.string()
        .valid(...DEVICE_TYPES)
        .description('Only fields of devices of this type'),
      search: searchText(100).description('Part of the name or the key'),
    }),
    response: pageOf(fieldShape),
    handler: (ctx, { query }) => listFields(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/custom-fields/{id}',
    summary: 'Reads a custom field and the number of devices with a value',
    access: { permission: 'devices:read' },
    params,
    response: Joi.object({ data: fieldShape.keys({ usageCount: Joi.number().integer().required() }).required() }),
    handler: (ctx, { params: { id } }) => readField(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/custom-fields',
    summary: 'Creates a custom field',
    access: write,
    audit: 'custom_field.create',
    payload: fieldCreate,
    response: Joi.object({ data: fieldShape.required() }),
    status: 201,
    errors: ['OWNER_REQUIRED', 'KEY_TAKEN', 'FIELD_LIMIT_REACHED', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { payload }) => createField(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/custom-fields/{id}',
    summary: 'Changes a custom field',
    access: write,
    audit: 'custom_field.update',
    params,
    payload: fieldUpdate,
    response: Joi.object({
      data: fieldShape
        .keys({
          invalidCount: Joi.number()
            .integer()
            .allow(null)
            .required()
            .description('Devices whose value is not valid for the field; null if there are too many distinct values'),
        })
        .required(),
    }),
    errors: ['IMMUTABLE_FIELD', 'IN_USE', 'NO_UPDATES', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, payload }) => updateField(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/custom-fields/{id}',
    summary: 'Removes a custom field and its values',
    access: write,
    audit: 'custom_field.delete',
    params,
    query: Joi.object<Removal>({
      confirm: Joi.string().max(100).description('The key of the field; required when devices have values'),
      force: Joi.boolean().default(false).description('Removes the field even if filters or groups refer to it'),
    }),
    response: Joi.object({ success: Joi.boolean().required(), clearedDevices: Joi.number().integer().required() }),
    errors: ['IN_USE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, query }) => deleteField(ctx, id, query),
  }),
];
