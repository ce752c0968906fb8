/** Agents: the wire protocol between managed machines and the platform. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { agentSettings } from './services/configs.ts';
import { startAgents } from './services/start.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'agents',
  title: 'Agents',
  summary: 'Enrollment, tokens, heartbeats, commands and inventory of the programs on managed machines',
  requires: ['devices', 'device-commands', 'identity'],
  variables,
  core: true,
  auditOnly: ['agent.frame.refuse'],
  settings: agentSettings,
  api,
  start: startAgents,
});
