/** The services of this module that live as long as the process. */
import { provide, type StartedModule, type StartServices } from '#core';
import { COMMAND_WAITS, startWaits } from './command-waits.ts';
import { CONFIGS, startConfigs } from './configs.ts';
import { HUB, startHub } from './sockets/hub.ts';
import { startTokenCache } from './tokens/authentication.ts';
import { ORG_SHARES, orgShares } from './tokens/org-shares.ts';
import { TOKEN_CACHE } from './tokens/token-cache.ts';

export function startAgents(start: StartServices): StartedModule {
  const cache = startTokenCache(start);
  return {
    provide: [
      provide(TOKEN_CACHE, cache),
      provide(ORG_SHARES, orgShares(start)),
      provide(CONFIGS, startConfigs(start)),
      provide(COMMAND_WAITS, startWaits(start)),
      // The hub subscribes to notices after the caches, so that an entry is dropped before the hub reads it again.
      provide(HUB, startHub(start, cache)),
    ],
  };
}
