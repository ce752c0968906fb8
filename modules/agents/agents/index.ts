/** Agents: the wire protocol between managed machines and the platform. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { resultBody } from './models/command-result.ts';
import { configShape, enrolledShape, enrollmentBody } from './models/enrollment.ts';
import { commandShape, heartbeatAnswer, heartbeatBody } from './models/heartbeat.ts';
import { disksBody, hardwareBody, networkBody, servicesBody, softwareBody, submitted } from './models/inventory.ts';
import {
  agentValues,
  connectionsBody,
  patchesBody,
  processesBody,
  securityBody,
  sessionsBody,
} from './models/report.ts';
import { startWaits } from './services/command-waits.ts';
import { agentSettings, startConfigs } from './services/configs.ts';
import { startHub } from './services/sockets/hub.ts';
import { startAuthentication } from './services/tokens/authentication.ts';
import { startOrgShares } from './services/tokens/org-shares.ts';

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
  start(services) {
    startAuthentication(services);
    startOrgShares(services);
    startConfigs(services);
    startWaits(services);
    // After those above: who forgets must do so before the hub asks again.
    startHub(services);
  },
});
