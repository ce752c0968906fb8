/** Archives and deletes the expired entries of one organization. */
import Joi from 'joi';
import { defineJob } from '#core';
import { pruneOrganization } from '../services/keeping/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'audit/prune-organization': { orgId: string };
  }
}

export default defineJob<{ orgId: string }>({
  summary: 'Archives and deletes the expired audit entries of one organization',
  scope: 'platform',
  payload: Joi.object({ orgId: Joi.string().uuid().required() }),
  maxAttempts: 5,
  run: (ctx, { orgId }) => pruneOrganization(ctx, orgId),
});
