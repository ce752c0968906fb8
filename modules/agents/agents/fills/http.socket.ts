/** GET /agent-ws/{id}/ws: where agents stay connected. */

import { MAX_FRAME_BYTES } from '#agent-protocol';
import { defineContribution } from '#core';
import { sha256Hex } from '#core/auth';
import { agentParams, connected } from '../models/agent-path.ts';
import { openAgentSocket } from '../services/sockets/hub.ts';
import { variables } from '../variables.ts';

export default defineContribution('http.socket', {
  path: '/agent-ws/{id}/ws',
  summary: 'Connects an agent: commands arrive at once, beats and results take the same way',
  access: { agent: connected },
  params: agentParams,
  // By token: the watchdog connects beside the main agent.
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
