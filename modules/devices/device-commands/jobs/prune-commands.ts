/** Deletes commands that ended long ago. */
import Joi from 'joi';
import { defineJob } from '#core';
import { pruneCommands } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-commands/prune-commands': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'device-commands/prune-commands',
  summary: 'Deletes commands that ended long ago',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  run: pruneCommands,
});
