/** The devices that conditions match, as the API shows them. */
import Joi from 'joi';
import { named } from '#core';

export const previewShape = named(
  'FilterPreview',
  Joi.object({
    totalCount: Joi.number().integer().required().description('All devices that match, including those beyond `limit`'),
    devices: Joi.array()
      .items(
        Joi.object({
          id: Joi.string().uuid().required(),
          hostname: Joi.string().required(),
          displayName: Joi.string().allow(null, '').required(),
          osType: Joi.string().required(),
          status: Joi.string().required(),
          lastSeenAt: Joi.date().iso().allow(null).required(),
        }),
      )
      .required(),
    evaluatedAt: Joi.date().iso().required(),
  }),
);
