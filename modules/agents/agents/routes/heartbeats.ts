/** POST /agents/{id}/heartbeat: metrics in, commands and hints of new configuration out. */

import { heartbeatAnswer, heartbeatBody, isPlainHeartbeat } from '#agent-protocol/schemas';
import { defineRoute, named } from '#core';
import { agentErrors, agentLimits, agentParams, always } from '../models/agent-path.ts';
import { acceptHeartbeat } from '../services/heartbeats.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/heartbeat',
    summary: 'Says that the agent lives, how the machine fares, and asks what to do',
    description: 'Every field is judged alone: a bad one is dropped and keeps what is known, it never fails the beat.',
    access: { agent: always },
    audit: { none: 'one a minute and device; changes of state are recorded by the devices module' },
    limits: agentLimits,
    params: agentParams,
    payload: named('AgentHeartbeat', heartbeatBody),
    plain: isPlainHeartbeat,
    response: named('AgentHeartbeatAnswer', heartbeatAnswer),
    errors: agentErrors,
    handler: (ctx, input) => acceptHeartbeat(ctx, input),
  }),
];
