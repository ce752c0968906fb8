/** The known settings of an identity provider. */
import Joi from 'joi';
import { named } from '#core';

export interface Preset {
  id: string;
  name: string;
  type: 'oidc';
  /** With placeholders in braces. */
  issuer: string;
  scopes: string[];
  attributeMapping: { email: string; name: string };
  trustEmail: boolean;
  hints: string[];
}

export const mappingShape = named(
  'SsoAttributeMapping',
  Joi.object({ email: Joi.string().required(), name: Joi.string().required() }),
);
export const presetShape = named(
  'SsoPreset',
  Joi.object({
    id: Joi.string().required(),
    name: Joi.string().required(),
    type: Joi.string().valid('oidc').required(),
    issuer: Joi.string().required().description('Replace what stands in braces'),
    scopes: Joi.array().items(Joi.string()).required(),
    attributeMapping: mappingShape.required(),
    trustEmail: Joi.boolean().required(),
    hints: Joi.array().items(Joi.string()).required(),
  }),
);
