/** Writes a note from a job; the text `boom` fails. */

import Joi from 'joi';
import { defineJob } from '#core';
import noted from '../events/noted.ts';

export default defineJob<{ text: string }>({
  name: 'probe/note',
  summary: 'Writes a note',
  scope: 'tenant',
  payload: Joi.object({ text: Joi.string().required() }),
  maxAttempts: 2,
  async run(ctx, { text }) {
    await ctx.sql('insert into notes (org_id, text) values ($1, $2) on conflict do nothing', [ctx.scope.orgId, text]);
    if (text.startsWith('cause')) ctx.emit(noted, { text });
    ctx.audit('probe.note', { details: { via: 'job' } });
    if (text === 'boom') throw new Error('job 42 failed on purpose');
  },
});
