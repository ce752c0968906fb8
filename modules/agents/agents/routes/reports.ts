/** PUT /agents/{id}/patches, security/status, sessions, connections, processes and custom-fields. */
import Joi from 'joi';
import {
  agentValues,
  connectionsBody,
  patchesBody,
  processesBody,
  type ReportBody,
  securityBody,
  sessionsBody,
} from '#agent-protocol/schemas';
import { defineRoute, named } from '#core';
import { agentLimits, agentParams, mainOnly, reportTaken, tenantErrors } from '../models/agent-path.ts';
import { callingDevice } from '../services/commands.ts';
import { submitSample } from '../services/reports.ts';

type Kind = Parameters<typeof submitSample>[1];

function reportRoute(path: string, kind: Kind, summary: string, payload: Joi.ObjectSchema<ReportBody>) {
  return defineRoute({
    method: 'PUT',
    path: `/agents/{id}/${path}`,
    summary,
    access: { agent: mainOnly },
    audit: { none: 'a sample of the machine, which the next one replaces' },
    limits: agentLimits,
    params: agentParams,
    payload,
    maxBytes: 4 * 1024 * 1024,
    response: reportTaken,
    errors: tenantErrors,
    handler: (ctx, input) => submitSample(ctx, kind, input.payload),
  });
}

export default [
  reportRoute(
    'patches',
    'patches',
    'Replaces the patches of the sources that were scanned',
    named('AgentPatches', patchesBody),
  ),
  reportRoute(
    'security/status',
    'security',
    'Replaces the status of protection and encryption',
    named('AgentSecurityStatus', securityBody),
  ),
  reportRoute('sessions', 'sessions', 'Replaces the sessions of users', named('AgentSessions', sessionsBody)),
  reportRoute(
    'connections',
    'connections',
    'Replaces the open connections',
    named('AgentConnections', connectionsBody),
  ),
  reportRoute('processes', 'processes', 'Replaces the running processes', named('AgentProcesses', processesBody)),
  defineRoute({
    method: 'PUT',
    path: '/agents/{id}/custom-fields',
    summary:
      'Writes values of a script into custom fields that scripts may write; each key succeeds or fails by itself',
    access: { agent: mainOnly },
    audit: 'device.custom_fields.update',
    limits: agentLimits,
    params: agentParams,
    payload: named('AgentCustomFields', agentValues),
    response: Joi.object({
      updated: Joi.array().items(Joi.string()).required(),
      failed: Joi.array()
        .items(
          Joi.object({
            key: Joi.string().required(),
            code: Joi.string().required(),
            message: Joi.string().required(),
          }),
        )
        .required(),
    }),
    errors: tenantErrors,
    handler: (ctx, input) => ctx.use('devices').writeAgentValues(callingDevice(ctx), input.payload.values),
  }),
];
