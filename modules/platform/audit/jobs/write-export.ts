/** Writes one step of an export of the audit trail and queues the next. */
import Joi from 'joi';
import { defineJob } from '#core';
import { writeStep } from '../services/exports/export-steps.ts';

interface Payload {
  exportId: string;
  step: number;
}
declare module '#core/contract' {
  interface Jobs {
    'audit/write-export': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Writes one step of an export of the audit trail',
  scope: 'platform',
  payload: Joi.object<Payload>({
    exportId: Joi.string().uuid().required(),
    step: Joi.number().integer().min(0).required(),
  }),
  maxAttempts: 8,
  run: (ctx, { exportId, step }) => writeStep(ctx, exportId, step),
});
