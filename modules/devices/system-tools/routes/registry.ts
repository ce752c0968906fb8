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
import { actErrors, acting, allOf, lookErrors, looking, onDevice, oneOf } from '../models/tool-routes.ts';
import { createKey, deleteKey, deleteValue, listKeys, listValues, readValue, setValue } from '../services/registry.ts';

const base = '/system-tools/devices/{deviceId}/registry';
const look = { access: looking, work: 'none', params: onDevice, errors: lookErrors } as const;
const act = { access: acting, work: 'none', params: onDevice, errors: actErrors, idempotent: 'handler' } as const;
const done = { success: Joi.boolean().required() };
const removal = 'What is to go is named in the query, in the body, or in both.';

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
    summary: 'Makes a key of the registry',
    audit: 'device.create_registry_key',
    payload: keyCreate,
    response: Joi.object({ ...done, created: Joi.boolean().required().description('False where there was one') }),
    handler: (ctx, input) => createKey(ctx, input),
  }),
  defineRoute({
    ...act,
    method: 'DELETE',
    path: `${base}/key`,
    summary: 'Removes a key of the registry',
    description: `${removal} A key that holds others goes only with recursive; roots of hives and vital keys never go.`,
    audit: 'device.delete_registry_key',
    query: Joi.object<Partial<RegistryPlace & { recursive: boolean }>>(someKeyPlace),
    payload: Joi.object<Partial<RegistryPlace & { recursive: boolean }>>(someKeyPlace).allow(null),
    response: Joi.object(done),
    handler: (ctx, input) => deleteKey(ctx, input),
  }),
];
