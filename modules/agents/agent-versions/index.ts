/** Agent versions: what may be installed, who is offered it when, and how that went. */
import { defineModule, provide } from '#core';
import { updatePolicy } from './models/update-policy.ts';
import { CATALOG, startCatalog } from './services/catalog.ts';
import { DOWNLOADS } from './services/downloads.ts';
import { STANDINGS, startStandings } from './services/rollout/standings.ts';
import { variables } from './variables.ts';

declare module '#core/contract' {
  interface Events {
    'agent-versions.update.succeeded': { attemptId: string; component: string; from: string; to: string };
    'agent-versions.update.failed': {
      attemptId: string;
      component: string;
      from: string;
      to: string;
      state: string;
      reason: string | null;
      /** The version is not offered to this device again, unless somebody asks for another try. */
      over: boolean;
    };
    'agent-versions.rollout.halted': {
      haltId: string;
      partnerId: string;
      component: string;
      version: string;
      attempts: number;
      failures: number;
    };
    'agent-versions.rollout.resumed': { haltId: string; component: string; version: string };
  }
}

export default defineModule({
  name: 'agent-versions',
  title: 'Agent versions',
  summary: 'Which versions of the agents there are, and how devices are brought to them',
  requires: ['devices', 'device-commands', 'agents'],
  variables,
  default: 'on',
  agentFeatures: ['updates'],
  auditOnly: ['agent_version.sync.failed', 'agent.update.succeeded', 'agent.update.failed', 'agent.rollout.halt'],
  events: [
    'agent-versions.update.succeeded',
    'agent-versions.update.failed',
    'agent-versions.rollout.halted',
    'agent-versions.rollout.resumed',
  ],
  settings: updatePolicy,
  start: (start) => ({
    provide: [
      provide(CATALOG, startCatalog(start)),
      provide(STANDINGS, startStandings(start)),
      provide(DOWNLOADS, { count: 0 }),
    ],
  }),
});
