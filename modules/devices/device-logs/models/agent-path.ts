/** What the log routes share with all routes below /agents/{id}: path, rate limit, errors. */
import Joi from 'joi';
import type { AgentAccess, Limit } from '#core';

export const agentParams = Joi.object<{ id: string }>({
  id: Joi.string().hex().length(64).required().description("The agent's id from its enrollment"),
});
export const deviceParams = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });

/** The limit on all calls of an agent; the name identifies it. */
export const agentLimits: Limit[] = [{ name: 'agent', max: 120, windowSeconds: 60, by: 'actor' }];

/** All programs on the machine may log, also while the tenant is suspended. */
export const logging: AgentAccess = { roles: ['agent', 'watchdog'], suspended: true };
export const mainAgent: AgentAccess = { roles: ['agent'] };

export const agentErrors = [
  'UNAUTHENTICATED',
  'RE_ENROLLMENT_REQUIRED',
  'DEVICE_GONE',
  'RATE_LIMITED',
  'DEVICE_QUARANTINED',
  'DEVICE_DECOMMISSIONED',
  'NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
];

/** Maximum bytes of a body, after inflation if it is compressed. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
