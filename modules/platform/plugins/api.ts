/** What other modules can call: listing the providers of plugins, and calling one. */
import { type BoundApi, defineApi } from '#core';
import { callProvider, listProviders } from './services/actions.ts';

export const api = defineApi({ providers: listProviders, callProvider });

declare module '#core/contract' {
  interface Apis {
    plugins: BoundApi<typeof api>;
  }
}
