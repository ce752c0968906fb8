/** Agents: the wire protocol between managed machines and the platform. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { startAuthentication } from './services/authentication.ts';
import { startWaits } from './services/command-waits.ts';
import { agentSettings, startConfigs } from './services/configs.ts';
import { startHub } from './services/hub.ts';

export default defineModule({
  name: 'agents',
  title: 'Agents',
  summary: 'Enrollment, tokens, heartbeats, commands and inventory of the programs on managed machines',
  requires: ['devices', 'identity'],
  core: true,
  permissions: [],
  audits: ['device.create', 'agent.command.result.submit', 'agent.token.rotate', 'agent.frame.refuse'],
  slots: ['agents.offers', 'agents.frame'],
  settings: agentSettings,
  api,
  start(services) {
    startAuthentication(services);
    startConfigs(services);
    startWaits(services);
    // After those above: who forgets must do so before the hub asks again.
    startHub(services);
  },
});
