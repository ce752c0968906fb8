/** Agent versions: the catalogue of releases, the rollout of updates to devices, and the outcome of each update. */
import { defineModule, provide } from '#core';
import { updatePolicy } from './models/update-policy.ts';
import { CATALOG, startCatalog } from './services/catalog.ts';
import { DOWNLOADS } from './services/downloads.ts';
import { DEVICE_STATES, startDeviceStates } from './services/rollout/device-states.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'agent-versions',
  title: 'Agent versions',
  summary: 'The versions of the agents, and how devices are updated to them',
  requires: ['devices', 'device-commands', 'agents'],
  variables,
  default: 'on',
  agentFeatures: ['updates'],
  commands: ['update_agent'],
  auditOnly: ['agent_version.sync.failed', 'agent.update.succeeded', 'agent.update.failed', 'agent.rollout.halt'],
  settings: updatePolicy,
  start: (start) => ({
    provide: [
      provide(CATALOG, startCatalog(start)),
      provide(DEVICE_STATES, startDeviceStates(start)),
      provide(DOWNLOADS, { count: 0 }),
    ],
  }),
});
