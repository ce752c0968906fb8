/** Registry keys and values, as live tools return them. */
import Joi from 'joi';
import type { RegistryKeyItem, RegistryValueItem, ValueSet } from '../../tools/registry.ts';

const count = Joi.number().integer().min(0).allow(null).required();

export const keyShape = Joi.object<RegistryKeyItem>({
  name: Joi.string().allow('').required(),
  path: Joi.string().allow('').required(),
  subKeyCount: count,
  valueCount: count,
  lastModified: Joi.string().allow(null).required(),
});
export const valueShape = Joi.object<RegistryValueItem>({
  name: Joi.string().allow('').required(),
  type: Joi.string().required(),
  data: Joi.any().required(),
  truncated: Joi.boolean().required(),
});
const before = Joi.object({ type: Joi.string().required(), bytes: Joi.number().integer().min(0).required() });
export const valueSet = Joi.object<ValueSet>({
  before: before.allow(null).required().description('What stood there; null for a new value'),
});
