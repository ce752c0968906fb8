/** POST /agents/{id}/heartbeat: metrics in, commands and hints of new configuration out. */
import { defineRoute, type Input } from '#core';
import { agentErrors, agentLimits, agentParams, always } from '../models/agent-path.ts';
import { type HeartbeatBody, heartbeatAnswer, heartbeatBody } from '../models/heartbeat.ts';
import { isPlainBeat } from '../models/plain-beat.ts';
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
    payload: heartbeatBody,
    plain: isPlainBeat,
    response: heartbeatAnswer,
    errors: agentErrors,
    handler: (ctx, input: Input<{ id: string }, unknown, HeartbeatBody | null>) => acceptHeartbeat(ctx, input),
  }),
];
