/** /audit-logs/retention-policy: how long an organization keeps audit entries. */

import Joi from 'joi';
import { defineRoute } from '#core';
import { retentionShape, retentionUpdate } from '../models/retention-policy.ts';
import { readPolicy, updatePolicy } from '../services/keeping/retention.ts';

const query = Joi.object<{ orgId?: string }>({
  orgId: Joi.string().uuid().description("Defaults to the caller's own organization"),
});
const response = Joi.object({ data: retentionShape.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/audit-logs/retention-policy',
    summary: "Reads how long an organization's audit entries are kept",
    access: { permission: 'audit:read' },
    query,
    response,
    errors: ['ORG_REQUIRED', 'NOT_FOUND'],
    handler: (ctx, input) => readPolicy(ctx, input.query.orgId),
  }),
  defineRoute({
    method: 'PUT',
    path: '/audit-logs/retention-policy',
    summary: "Sets how long an organization's audit entries are kept",
    access: { permission: 'settings:update', mfa: true },
    audit: 'audit_logs.retention.update',
    query,
    payload: retentionUpdate,
    response,
    errors: ['ORG_REQUIRED', 'NO_UPDATES', 'NOT_FOUND', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, input) => updatePolicy(ctx, input.query.orgId, input.payload),
  }),
];
