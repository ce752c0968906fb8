/** Update attempts: reports of agents, and the reactions of operators to failures. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { attemptShape, FAILURES, REPORTED } from '../models/attempt.ts';
import { versionWord } from '../models/coordinates.ts';
import { type Report, reportAttempt, retryAttempt } from '../services/rollout/attempts.ts';
import { resumeRollout } from '../services/rollout/rollouts.ts';

const write = { permission: 'devices:write', mfa: true };
const idParams = Joi.object<{ id: string }>({
  id: Joi.string().uuid().required().description('The id of the attempt or the halt, from GET /agent-versions/status'),
});

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/update-status',
    summary: 'Reports the progress of an update',
    description:
      'Success is not reported: the next heartbeat shows it. A watchdog reports for an agent whose update it rolled back.',
    access: { agent: { roles: ['agent', 'watchdog'] } },
    audit: { none: 'single steps are not recorded; a failed attempt is, as agent.update.failed' },
    limits: [{ name: 'agent-update', max: 60, windowSeconds: 60, by: 'actor' }],
    params: Joi.object<{ id: string }>({
      id: Joi.string().hex().length(64).required().description("The agent's id from its enrollment"),
    }),
    payload: Joi.object<Report>({
      component: Joi.string().valid('agent', 'watchdog').default('agent'),
      targetVersion: versionWord().required(),
      state: Joi.string()
        .valid(...REPORTED)
        .required(),
      reason: Joi.string().valid(...FAILURES),
    }),
    response: Joi.object({ changed: Joi.boolean().required() }),
    errors: ['UNAUTHENTICATED', 'NOT_FOUND', 'INVALID_STATE', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => reportAttempt(ctx, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/agent-versions/attempts/{id}/retry',
    summary: 'Forgives failed attempts, so that the version is offered to the device again',
    access: write,
    audit: 'agent.update.retry',
    params: idParams,
    response: Joi.object({ data: attemptShape.required() }),
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, { params: { id } }) => retryAttempt(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/agent-versions/halts/{id}/resume',
    summary: 'Resumes a rollout that was halted because of failures',
    access: write,
    audit: 'agent.rollout.resume',
    params: idParams,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['NOT_FOUND', 'INVALID_STATE', 'FORBIDDEN', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id } }) => resumeRollout(ctx, id),
  }),
];
