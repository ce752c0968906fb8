/** What other modules may ask: `ctx.use('acme-asset-labels')`. */
import { type BoundApi, defineApi } from '@quartermaster/module-kit';
import { labelOf } from './services/labels.ts';

export const api = defineApi({ labelOf });

declare module '@quartermaster/module-kit/contract' {
  interface Apis {
    'acme-asset-labels': BoundApi<typeof api>;
  }
}
