/** The registry of a Windows device, and the live tools for it. */
import Joi from 'joi';
import {
  HIVES,
  type RegistryKeyItem,
  type RegistryPlace,
  type RegistryValueItem,
  VALUE_TYPES,
  type ValueSet,
  type ValueType,
} from '#agent-protocol';
import { listed, valueSet, keyShape as wireKey, valueShape as wireValue } from '#agent-protocol/schemas';
import { named } from '#core';
import { shape, type Tool } from './tool.ts';

export const keyShape = named('RegistryKey', wireKey);
export const valueShape = named('RegistryValue', wireValue);

const hive = Object.entries(HIVES)
  .reduce((schema, [short, long]) => schema.replace(new RegExp(`^${short}$`), long), Joi.string())
  .valid(...Object.values(HIVES))
  .description(
    'Or its short name, such as HKLM. HKEY_CURRENT_USER is the account of the agent; those of users are in HKEY_USERS by SID',
  );
const path = Joi.string()
  .max(1024)
  .custom((value: string, helpers) => {
    const steps = value.split('\\').filter((step) => step !== '');
    return steps.some((step) => step.split('/').includes('..')) ? helpers.error('path.up') : steps.join('\\');
  })
  .messages({ 'path.up': '{{#label}} must not contain ..' })
  .description('The key below its hive, with backslashes as separators');
const view = Joi.string().valid('64', '32').description('The 64-bit or the 32-bit view');
const name = Joi.string().allow('').max(256).description('Empty for the default value');

export interface ValuePlace extends RegistryPlace {
  name: string;
}
const key = { hive: hive.required(), path: path.allow('').default(''), view: view.default('64') };
export const keyPlace = Joi.object<RegistryPlace>(key);
export const valuePlace = Joi.object<ValuePlace>({ ...key, name: name.required() });
/** A removal may name its target in the query, in the body or in both; missing fields are reported for both together. */
export const someValuePlace = { hive, path: path.allow(''), view, name };
export const someKeyPlace = {
  hive,
  path: path.allow(''),
  view,
  recursive: Joi.boolean().description('true: including all keys below'),
};
export const removedKey = Joi.object<RegistryPlace & { recursive: boolean }>({
  ...key,
  recursive: Joi.boolean().default(false).description('true: including all keys below'),
});

export interface ValueWrite extends ValuePlace {
  type: ValueType;
  data: unknown;
}
export const valueWrite = named(
  'RegistryValueWrite',
  Joi.object<ValueWrite>({
    hive: hive.required(),
    path: path.allow('').required(),
    view: view.default('64'),
    name: name.required(),
    type: Joi.string()
      .valid(...VALUE_TYPES)
      .required(),
    data: Joi.alternatives(
      Joi.string().allow('').max(130_000),
      Joi.number().integer().min(0).max(4_294_967_295),
      Joi.array().items(Joi.string().allow('').max(16_384)).max(1_000),
      Joi.array().items(Joi.number().integer().min(0).max(255)).max(20_000),
    )
      .required()
      .description(
        'Text for REG_SZ and REG_EXPAND_SZ, texts for REG_MULTI_SZ, a number for REG_DWORD, decimal digits as text for REG_QWORD, base64 or bytes for REG_BINARY',
      ),
  }),
);
export const keyCreate = named(
  'RegistryKeyCreate',
  Joi.object<RegistryPlace>({
    hive: hive.required(),
    path: path.required(),
    view: view.default('64'),
  }),
);

const nothing = Joi.object<object>({});
const registry = { group: 'registry' } as const;
const change = { ...registry, mutates: true } as const;
export const KEYS: Tool<{ items: RegistryKeyItem[] }> = {
  ...registry,
  type: 'registry_keys',
  result: shape(listed(keyShape)),
};
export const VALUES: Tool<{ items: RegistryValueItem[] }> = {
  ...registry,
  type: 'registry_values',
  result: shape(listed(valueShape)),
};
export const GET_VALUE: Tool<RegistryValueItem> = { ...registry, type: 'registry_get', result: shape(valueShape) };
export const SET_VALUE: Tool<ValueSet> = {
  ...change,
  type: 'registry_set',
  result: shape(valueSet),
  audit: 'device.set_registry_value',
};
export const DELETE_VALUE: Tool<object> = {
  ...change,
  type: 'registry_delete',
  result: shape(nothing),
  audit: 'device.delete_registry_value',
};
export const CREATE_KEY: Tool<{ created: boolean }> = {
  ...change,
  type: 'registry_key_create',
  result: shape(Joi.object<{ created: boolean }>({ created: Joi.boolean().required() })),
  audit: 'device.create_registry_key',
};
export const DELETE_KEY: Tool<object> = {
  ...change,
  type: 'registry_key_delete',
  result: shape(nothing),
  audit: 'device.delete_registry_key',
};
