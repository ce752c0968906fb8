/** GET /agent-ws/{id}/ws: the socket over which agents stay connected. */

import { MAX_FRAME_BYTES } from '#agent-protocol';
import { defineContribution } from '#core';
import { sha256Hex } from '#core/auth';
import { agentParams, connected } from '../models/agent-path.ts';
import { openAgentSocket } from '../services/sockets/hub.ts';
import { variables } from '../variables.ts';

export default defineContribution('http.socket', {
  path: '/agent-ws/{id}/ws',
  summary: 'Connects an agent: commands are delivered at once, and heartbeats and results use the same socket',
  access: { agent: connected },
  params: agentParams,
  // By token, because the watchdog connects in addition to the main agent.
  limits: [
    {
      name: 'agent-socket',
      max: 6,
      windowSeconds: 60,
      by: ({ headers }) => sha256Hex(headers.authorization ?? ''),
    },
  ],
  maxFrameBytes: MAX_FRAME_BYTES,
  most: (config) => variables.of(config).socketsMax,
  open: openAgentSocket,
});
