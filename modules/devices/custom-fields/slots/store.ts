/** The slot `custom-fields.store`. */
import { defineSlot } from '#core';
import type { ValueStore } from '../models/value-store.ts';

declare module '#core/contract' {
  interface Slots {
    'custom-fields.store': ValueStore;
  }
}

export default defineSlot<ValueStore>({
  summary: 'Keeps the values of custom fields of one kind of object',
  steady: true,
});
