/** Agents: the wire protocol between managed machines and the platform. */

import { defineModule, provide } from '#core';
import { api } from './api.ts';
import { wireSchemas } from './models/wire-schemas.ts';
import { COMMAND_WAITS, startWaits } from './services/command-waits.ts';
import { agentSettings, CONFIGS, startConfigs } from './services/configs.ts';
import { HUB, startHub } from './services/sockets/hub.ts';
import { startTokenCache } from './services/tokens/authentication.ts';
import { ORG_SHARES, orgShares } from './services/tokens/org-shares.ts';
import { TOKEN_CACHE } from './services/tokens/token-cache.ts';
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
  schemas: wireSchemas,
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
