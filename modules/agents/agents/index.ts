/** Agents: the wire protocol between managed machines and the platform. */

import {
  agentValues,
  commandShape,
  configShape,
  connectionsBody,
  disksBody,
  enrolledShape,
  enrollmentBody,
  hardwareBody,
  heartbeatAnswer,
  heartbeatBody,
  networkBody,
  patchesBody,
  processesBody,
  resultBody,
  securityBody,
  servicesBody,
  sessionsBody,
  softwareBody,
  submitted,
} from '#agent-protocol/schemas';
import { defineModule, provide } from '#core';
import { api } from './api.ts';
import { COMMAND_WAITS, startWaits } from './services/command-waits.ts';
import { agentSettings, CONFIGS, startConfigs } from './services/configs.ts';
import { HUB, startHub } from './services/sockets/hub.ts';
import { startTokenCache } from './services/tokens/authentication.ts';
import { ORG_SHARES, orgShares } from './services/tokens/org-shares.ts';
import { TOKEN_CACHE } from './services/tokens/token-cache.ts';

export default defineModule({
  name: 'agents',
  title: 'Agents',
  summary: 'Enrollment, tokens, heartbeats, commands and inventory of the programs on managed machines',
  requires: ['devices', 'device-commands', 'identity'],
  core: true,
  permissions: [],
  audits: [
    'device.create',
    'agent.command.result.submit',
    'agent.token.rotate',
    'agent.frame.refuse',
    'agent.uninstall.intent',
    'device.custom_fields.update',
  ],
  slots: ['agents.offers', 'agents.frame'],
  settings: agentSettings,
  schemas: {
    AgentCommand: commandShape,
    AgentCommandResult: resultBody,
    AgentConfig: configShape,
    AgentConnections: connectionsBody,
    AgentCustomFields: agentValues,
    AgentDisks: disksBody,
    AgentEnrolled: enrolledShape,
    AgentEnrollment: enrollmentBody,
    AgentHardware: hardwareBody,
    AgentHeartbeat: heartbeatBody,
    AgentHeartbeatAnswer: heartbeatAnswer,
    AgentNetwork: networkBody,
    AgentPatches: patchesBody,
    AgentProcesses: processesBody,
    AgentReportTaken: submitted,
    AgentSecurityStatus: securityBody,
    AgentServices: servicesBody,
    AgentSessions: sessionsBody,
    AgentSoftware: softwareBody,
  },
  api,
  start(start) {
    const cache = startTokenCache(start);
    const configs = startConfigs(start);
    const waits = startWaits(start);
    return {
      provide: [
        provide(TOKEN_CACHE, cache),
        provide(ORG_SHARES, orgShares(start)),
        provide(CONFIGS, configs),
        provide(COMMAND_WAITS, waits),
        // The hub listens after the caches: they must drop an entry before the hub reads it again.
        provide(HUB, startHub(start, cache)),
      ],
    };
  },
});
