/** PUT /agents/{id}/hardware, network, disks, software and services. */
import type Joi from 'joi';
import { disksBody, hardwareBody, networkBody, servicesBody, softwareBody } from '#agent-protocol/schemas';
import { defineRoute, named } from '#core';
import { agentLimits, agentParams, mainOnly, reportTaken, tenantErrors } from '../models/agent-path.ts';
import { type SnapshotKind, submitSnapshot } from '../services/inventories.ts';

function snapshotRoute(kind: SnapshotKind, summary: string, payload: Joi.ObjectSchema<object>, maxBytes?: number) {
  return defineRoute({
    method: 'PUT',
    path: `/agents/{id}/${kind}`,
    summary,
    access: { agent: mainOnly },
    audit: { none: 'samples of the machine; the history of the device keeps the changes' },
    limits: agentLimits,
    params: agentParams,
    payload,
    ...(maxBytes ? { maxBytes } : {}),
    response: reportTaken,
    errors: tenantErrors,
    handler: (ctx, input) => submitSnapshot(ctx, kind, input.payload),
  });
}

export default [
  snapshotRoute('hardware', 'Replaces the hardware of the device', named('AgentHardware', hardwareBody)),
  snapshotRoute('network', 'Replaces the network adapters', named('AgentNetwork', networkBody)),
  snapshotRoute('disks', 'Replaces the disks', named('AgentDisks', disksBody)),
  // Ten thousand programs with their paths.
  snapshotRoute('software', 'Replaces the installed software', named('AgentSoftware', softwareBody), 32 * 1024 * 1024),
  snapshotRoute(
    'services',
    'Replaces the services of the operating system',
    named('AgentServices', servicesBody),
    8 * 1024 * 1024,
  ),
];
