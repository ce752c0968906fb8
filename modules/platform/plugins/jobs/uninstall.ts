/** The second half of a removal. */
import Joi from 'joi';
import { defineJob } from '#core';
import { runUninstall } from '../services/installations/life.ts';

declare module '#core/contract' {
  interface Jobs {
    'plugins/uninstall': { installationId: string };
  }
}

export default defineJob<{ installationId: string }>({
  summary: 'Runs the onUninstall of a plugin and takes it away',
  scope: 'platform',
  payload: Joi.object({ installationId: Joi.string().uuid().required() }),
  whenOff: 'what was asked for before is brought to its end',
  maxAttempts: 3,
  run: (ctx, { installationId }) => runUninstall(ctx, installationId),
});
