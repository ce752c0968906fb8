/** The slot `identity.login-rule`. */
import { defineSlot } from '#core';
import type { LoginRule } from '../services/access/login-rules.ts';

declare module '#core/contract' {
  interface Slots {
    'identity.login-rule': LoginRule;
  }
}

export default defineSlot<LoginRule>({
  summary: 'Allows or refuses logins with a password',
  steady: true,
});
