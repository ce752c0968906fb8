/** Agent versions: what may be installed, who is offered it when, and how that went. */
import { defineModule, provide } from '#core';
import { updatePolicy } from './models/update-policy.ts';
import { CATALOG, startCatalog } from './services/catalog.ts';
import { DOWNLOADS } from './services/downloads.ts';
import { STANDINGS, startStandings } from './services/rollout/standings.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'agent-versions',
  title: 'Agent versions',
  summary: 'Which versions of the agents there are, and how devices are brought to them',
  requires: ['devices', 'device-commands', 'agents'],
  variables,
  default: 'on',
  agentFeatures: ['updates'],
  auditOnly: ['agent_version.sync.failed', 'agent.update.succeeded', 'agent.update.failed', 'agent.rollout.halt'],
  settings: updatePolicy,
  start: (start) => ({
    provide: [
      provide(CATALOG, startCatalog(start)),
      provide(STANDINGS, startStandings(start)),
      provide(DOWNLOADS, { count: 0 }),
    ],
  }),
});
