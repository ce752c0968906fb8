/** A module that cannot be switched off: it tells, asks its slots, and lets jobs in. */
import { defineModule } from '#core';

declare module '#core/contract' {
  interface Slots {
    'anchor.word': { word: string };
    'anchor.guard': { word: string };
  }
  interface Events {
    'anchor.told': { text: string };
  }
}

export default defineModule({
  name: 'anchor',
  title: 'Anchor',
  summary: 'For tests of switching',
  requires: [],
  core: true,
  permissions: ['devices:read', 'devices:write'],
  audits: ['anchor.tell'],
  events: ['anchor.told'],
  slots: ['anchor.word', 'anchor.guard'],
  steadySlots: ['anchor.guard'],
});
