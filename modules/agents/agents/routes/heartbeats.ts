/** POST /agents/{id}/heartbeat: stores status and metrics, and answers with commands and changed configuration. */

import { heartbeatAnswer, heartbeatBody, isPlainHeartbeat } from '#agent-protocol/schemas';
import { defineRoute, named } from '#core';
import { agentErrors, agentLimits, agentParams, always } from '../models/agent-path.ts';
import { acceptHeartbeat } from '../services/heartbeats.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/heartbeat',
    summary: 'Reports the status of the machine and returns what the agent should do',
    description:
      'Fields are validated one by one. An invalid field is dropped, keeps its stored value, and never fails the heartbeat.',
    access: { agent: always },
    audit: { none: 'one per minute and device; the devices module records changes of state' },
    limits: agentLimits,
    params: agentParams,
    payload: named('AgentHeartbeat', heartbeatBody),
    plain: isPlainHeartbeat,
    response: named('AgentHeartbeatAnswer', heartbeatAnswer),
    errors: agentErrors,
    handler: (ctx, input) => acceptHeartbeat(ctx, input),
  }),
];
