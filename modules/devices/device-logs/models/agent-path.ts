/** What the agents' log routes have in common with all routes below /agents/{id}: path, one rate limit, errors. */
import Joi from 'joi';
import type { AgentAccess, Limit } from '#core';

export const agentParams = Joi.object<{ id: string }>({
  id: Joi.string().hex().length(64).required().description("The agent's id from its enrollment"),
});
export const deviceParams = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });

/** The window of all of an agent's calls: the name is what makes it one. */
export const agentLimits: Limit[] = [{ name: 'agent', max: 120, windowSeconds: 60, by: 'actor' }];

/** Everybody on the machine may log, also while the tenant is suspended. */
export const logging: AgentAccess = { roles: ['agent', 'watchdog', 'helper'], suspended: true };
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

/** Bytes of a body, after inflation where it comes compressed. */
export const MOST_BYTES = 10 * 1024 * 1024;
