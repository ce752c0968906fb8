/** /system-tools/devices/{deviceId}/registry: keys and values of the Windows registry. */

import Joi from 'joi';
import type { RegistryPlace } from '#agent-protocol';
import { valueSet } from '#agent-protocol/schemas';
import { defineRoute } from '#core';
import {
  keyCreate,
  keyPlace,
  keyShape,
  someKeyPlace,
  someValuePlace,
  type ValuePlace,
  valuePlace,
  valueShape,
  valueWrite,
} from '../models/registry.ts';
import { allOf, changeAccess, changeErrors, onDevice, oneOf, readAccess, readErrors } from '../models/tool-routes.ts';
import { createKey, deleteKey, deleteValue, listKeys, listValues, readValue, setValue } from '../services/registry.ts';

const base = '/system-tools/devices/{deviceId}/registry';
const look = { access: readAccess, work: 'none', params: onDevice, errors: readErrors } as const;
const act = {
  access: changeAccess,
  work: 'none',
  params: onDevice,
  errors: changeErrors,
  idempotent: 'handler',
} as const;
const done = { success: Joi.boolean().required() };
const removal = 'The query, the body or both name what to remove.';

export default [
  defineRoute({
    ...look,
    method: 'GET',
    path: `${base}/keys`,
    summary: 'Lists the keys below a key of the registry',
    query: keyPlace,
    response: allOf(keyShape),
    handler: (ctx, input) => listKeys(ctx, input),
  }),
  defineRoute({
    ...look,
    method: 'GET',
    path: `${base}/values`,
    summary: 'Lists the values of a key of the registry',
    query: keyPlace,
    response: allOf(valueShape),
    handler: (ctx, input) => listValues(ctx, input),
  }),
  defineRoute({
    ...look,
    method: 'GET',
    path: `${base}/value`,
    summary: 'Reads a value of the registry',
    query: valuePlace,
    response: oneOf(valueShape),
    handler: (ctx, input) => readValue(ctx, input),
  }),
  defineRoute({
    ...act,
    method: 'PUT',
    path: `${base}/value`,
    summary: 'Writes a value of the registry',
    audit: 'device.set_registry_value',
    payload: valueWrite,
    response: valueSet.append<{ success: boolean }>(done),
    handler: (ctx, input) => setValue(ctx, input),
  }),
  defineRoute({
    ...act,
    method: 'DELETE',
    path: `${base}/value`,
    summary: 'Removes a value of the registry',
    description: removal,
    audit: 'device.delete_registry_value',
    query: Joi.object<Partial<ValuePlace>>(someValuePlace),
    payload: Joi.object<Partial<ValuePlace>>(someValuePlace).allow(null),
    response: Joi.object(done),
    handler: (ctx, input) => deleteValue(ctx, input),
  }),
  defineRoute({
    ...act,
    method: 'POST',
    path: `${base}/key`,
    summary: 'Creates a key of the registry',
    audit: 'device.create_registry_key',
    payload: keyCreate,
    response: Joi.object({
      ...done,
      created: Joi.boolean().required().description('False if the key existed already'),
    }),
    handler: (ctx, input) => createKey(ctx, input),
  }),
  defineRoute({
    ...act,
    method: 'DELETE',
    path: `${base}/key`,
    summary: 'Removes a key of the registry',
    description: `${removal} A key with subkeys is removed only with recursive. Roots of hives and keys that the system needs are never removed.`,
    audit: 'device.delete_registry_key',
    query: Joi.object<Partial<RegistryPlace & { recursive: boolean }>>(someKeyPlace),
    payload: Joi.object<Partial<RegistryPlace & { recursive: boolean }>>(someKeyPlace).allow(null),
    response: Joi.object(done),
    handler: (ctx, input) => deleteKey(ctx, input),
  }),
];
