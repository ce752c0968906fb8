/** A health rule of the job queue found another level for a subject than before. */
import Joi from 'joi';
import { defineEvent } from '#core';
import type { HealthChange, Level } from '../../models/health.ts';

const PRIORITY = { ok: 'low', warn: 'normal', critical: 'high' } as const;
const level = Joi.string<Level>().valid('ok', 'warn', 'critical').required();

export default defineEvent({
  summary: 'The health of the job queue changed',
  data: Joi.object<HealthChange>({
    rule: Joi.string().required(),
    subject: Joi.string().allow('').required(),
    before: level,
    level,
    detail: Joi.string().allow('').required(),
  }),
  example: {
    rule: 'failures',
    subject: 'tags/rename-tag',
    before: 'ok',
    level: 'warn',
    detail: '12 of 100 runs failed',
  },
  notice: {
    tell: {
      type: 'system',
      priority: ({ level: now }) => PRIORITY[now],
      permission: 'settings:view',
      installation: true,
      render: ({ rule, subject, level: now, detail }) => ({
        title: `Job queue: ${rule} of ${subject} is ${now}`,
        message: detail,
        link: '/admin/jobs',
        metadata: { rule, subject, level: now },
        dedupeKey: `queue:${rule}:${subject}`,
      }),
    },
  },
});
