/** What other modules can call: sending messages about alerts, and cancelling them. */
import { type BoundApi, defineApi } from '#core';
import { cancel, send } from './services/sending/messages.ts';

export const api = defineApi({ send, cancel });

declare module '#core/contract' {
  interface Apis {
    'alert-channels': BoundApi<typeof api>;
  }
}
