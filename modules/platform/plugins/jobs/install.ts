/** The second half of an installation. */
import Joi from 'joi';
import { defineJob } from '#core';
import { runInstall } from '../services/installations/life.ts';

declare module '#core/contract' {
  interface Jobs {
    'plugins/install': { installationId: string };
  }
}

export default defineJob<{ installationId: string }>({
  summary: 'Verifies a plugin that is being installed and runs its onInstall',
  scope: 'platform',
  payload: Joi.object({ installationId: Joi.string().uuid().required() }),
  maxAttempts: 3,
  run: (ctx, { installationId }) => runInstall(ctx, installationId),
});
