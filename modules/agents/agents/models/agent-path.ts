/** What all routes below /agents/{id} have in common: the path, who may call, how often, and the errors. */
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

/** One window for all of an agent's calls. */
export const agentLimits: Limit[] = [{ name: 'agent', max: 120, windowSeconds: 60, by: 'actor' }];

/** Main agent and watchdog, also while the tenant is suspended, so that agents can be drained. */
export const working: AgentAccess = { roles: ['agent', 'watchdog'], suspended: true };
/** What a decommissioned device still needs to remove its agent. */
export const leaving: AgentAccess = { ...working, also: ['decommissioned'] };
/** What becomes of a command: nobody's other calls may keep it back. */
export const reporting: AgentAccess = { ...leaving, vital: true };
/** Open in every state of the device and its tenant: authenticated from memory, without a statement. */
export const always: AgentAccess = { ...working, also: ['quarantined', 'decommissioned'], vital: true };
/** A socket is for devices in good standing; all others are left to what polling answers them. */
export const connected: AgentAccess = { roles: ['agent', 'watchdog'] };
export const rotating: AgentAccess = { roles: ['agent'], suspended: true };
export const confirming: AgentAccess = { ...rotating, pending: true };
export const mainOnly: AgentAccess = { roles: ['agent'] };
export const anyRole: AgentAccess = { roles: ['agent', 'watchdog', 'helper'] };

export const agentErrors = ['UNAUTHENTICATED', 'RE_ENROLLMENT_REQUIRED', 'DEVICE_GONE', 'RATE_LIMITED'];
export const stateErrors = [...agentErrors, 'DEVICE_QUARANTINED', 'DEVICE_DECOMMISSIONED'];
export const tenantRefusals = [...stateErrors, 'TENANT_INACTIVE'];
