/** Loaded before a server (`--import`): gives it routes without the conventions of the API, `bare-route.ts`. */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const BARE = pathToFileURL(`${import.meta.dirname}/bare-route.ts`).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url.endsWith('/core/http/route.ts') ? { ...found, url: BARE } : found;
  },
});
