/** Agents: the wire protocol between managed machines and the platform. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { startAuthentication } from './services/authentication.ts';
import { agentSettings, startConfigs } from './services/configs.ts';

export default defineModule({
  name: 'agents',
  title: 'Agents',
  summary: 'Enrollment, tokens, heartbeats, commands and inventory of the programs on managed machines',
  requires: ['devices', 'identity'],
  core: true,
  permissions: [],
  audits: ['device.create', 'agent.command.result.submit', 'agent.token.rotate'],
  slots: ['agents.offers'],
  settings: agentSettings,
  api,
  start(services) {
    startAuthentication(services);
    startConfigs(services);
  },
});
