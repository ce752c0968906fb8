/** Looking at a target before something is made for it. */
import Joi from 'joi';
import { defineRoute, type Target, target } from '#core';
import { previewFor } from '../services/previewing.ts';

const uuid = Joi.string().uuid();
const count = Joi.number().integer().min(0).required();

export default [
  defineRoute({
    method: 'POST',
    path: '/targets/preview',
    summary: 'Previews the devices that a target is for',
    description:
      'Counts what the caller reaches. `skipped` counts devices that the target names and that are left out: excluded, decommissioned, not yet enrolled, quarantined.',
    access: { permission: 'devices:read' },
    audit: { none: 'it reads devices, like GET /devices' },
    payload: Joi.object<{ target: Target; orgId?: string; partnerId?: string }>({
      target: target.required(),
      orgId: uuid.description('The organization whose devices it is for'),
      partnerId: uuid.description('The partner, for the devices of all of its organizations'),
    }),
    response: Joi.object({
      data: Joi.object({
        count,
        devices: Joi.array()
          .items(
            Joi.object({
              id: uuid.required(),
              hostname: Joi.string().required(),
              orgId: uuid.required(),
              siteId: uuid.required(),
            }),
          )
          .max(20)
          .required()
          .description('The first 20 by host name'),
        skipped: Joi.object({ excluded: count, decommissioned: count, pending: count, quarantined: count }).required(),
      }).required(),
    }),
    errors: ['FILTER_TOO_EXPENSIVE', 'FOREIGN_TARGETS', 'NOT_FOUND', 'ORG_REQUIRED', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { payload }) => previewFor(ctx, payload),
  }),
];
