/** The slot `identity.factor`. */
import { defineSlot } from '#core';
import type { ExtraFactor } from '../services/access/login-rules.ts';

declare module '#core/contract' {
  interface Slots {
    'identity.factor': ExtraFactor;
  }
}

export default defineSlot<ExtraFactor>({
  summary: 'Adds a second factor to logins',
  steady: true,
});
