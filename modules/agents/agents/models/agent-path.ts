/** What all routes below /agents/{id} share: path, access, limits and errors. */
import Joi from 'joi';
import { submitted } from '#agent-protocol/schemas';
import { type AgentAccess, type Limit, named } from '#core';

export const agentId = Joi.string().hex().length(64).required().description("The agent's id from its enrollment");
export const agentParams = Joi.object<{ id: string }>({ id: agentId });
/** The answer to a report that was stored. */
export const reportTaken = named('AgentReportTaken', submitted);
export const commandParams = Joi.object<{ id: string; commandId: string }>({
  id: agentId,
  commandId: Joi.string().uuid().required(),
});

/** One limit for all calls of an agent. */
export const agentLimits: Limit[] = [{ name: 'agent', max: 120, windowSeconds: 60, by: 'actor' }];

/** Main agent and watchdog, also while the tenant is suspended, so that its agents still take commands. */
export const working: AgentAccess = { roles: ['agent', 'watchdog'], suspended: true };
/** Calls that a decommissioned device needs to remove its agent. */
export const leaving: AgentAccess = { ...working, also: ['decommissioned'] };
/** Starts and results of commands, for which a share of the organization's rate limit is reserved. */
export const reporting: AgentAccess = { ...leaving, vital: true };
/** Open in every state of device and tenant: authenticated from memory, without a statement. */
export const always: AgentAccess = { ...working, also: ['quarantined', 'decommissioned'], vital: true };
/** Only active devices of active tenants read their configuration and may connect a socket; all others poll. */
export const connected: AgentAccess = { roles: ['agent', 'watchdog'] };
export const rotating: AgentAccess = { roles: ['agent'], suspended: true };
export const confirming: AgentAccess = { ...rotating, pending: true };
export const mainOnly: AgentAccess = { roles: ['agent'] };

export const agentErrors = ['UNAUTHENTICATED', 'RE_ENROLLMENT_REQUIRED', 'DEVICE_GONE', 'RATE_LIMITED'];
export const stateErrors = [...agentErrors, 'DEVICE_QUARANTINED', 'DEVICE_DECOMMISSIONED'];
export const tenantErrors = [...stateErrors, 'TENANT_INACTIVE'];
