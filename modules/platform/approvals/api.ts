/** What other modules can call: `ctx.use('approvals')`. */
import { type BoundApi, defineApi } from '#core';
import { ask } from './services/asking.ts';

export const api = defineApi({ ask });

declare module '#core/contract' {
  interface Apis {
    approvals: BoundApi<typeof api>;
  }
}
