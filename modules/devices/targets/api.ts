/** What other modules can call: `ctx.use('targets')`. The schema of a target is `target` of `#core`. */
import { type BoundApi, defineApi } from '#core';
import { checkTarget } from './services/checks.ts';
import { freeze, frozenDevices } from './services/frozen.ts';
import { preview } from './services/previews.ts';
import { resolve } from './services/resolutions.ts';

export const api = defineApi({ checkTarget, resolve, preview, freeze, frozenDevices });

declare module '#core/contract' {
  interface Apis {
    targets: BoundApi<typeof api>;
  }
}
