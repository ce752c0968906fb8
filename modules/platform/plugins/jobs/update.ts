/** The second half of a change of version. */
import Joi from 'joi';
import { defineJob } from '#core';
import { runUpdate } from '../services/installations/life.ts';

declare module '#core/contract' {
  interface Jobs {
    'plugins/update': { installationId: string };
  }
}

export default defineJob<{ installationId: string }>({
  summary: 'Moves a plugin to another version, or back where that fails',
  scope: 'platform',
  payload: Joi.object({ installationId: Joi.string().uuid().required() }),
  maxAttempts: 3,
  run: (ctx, { installationId }) => runUpdate(ctx, installationId),
});
