/** Mails system administrators about a change in queue health. */
import Joi from 'joi';
import { defineJob } from '#core';
import type { HealthChange } from '../models/health.ts';
import { sendNotice } from '../services/watching/notices.ts';

declare module '#core/contract' {
  interface Jobs {
    'queue/send-health-notice': HealthChange;
  }
}
const level = Joi.string().valid('ok', 'warn', 'critical').required();

export default defineJob<HealthChange>({
  summary: 'Mails system administrators about a change in queue health',
  scope: 'platform',
  payload: Joi.object<HealthChange, true>({
    rule: Joi.string()
      .valid('oldest_ready', 'failures', 'no_worker', 'cron_late', 'outbox', 'stuck', 'snapshot')
      .required(),
    subject: Joi.string().allow('').max(300).required(),
    before: level,
    level,
    detail: Joi.string().allow('').max(500).required(),
  }),
  maxAttempts: 5,
  interactive: true,
  run: sendNotice,
});
