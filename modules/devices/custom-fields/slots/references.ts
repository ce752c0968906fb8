/** The slot `custom-fields.references`. */
import { defineSlot } from '#core';
import type { FieldReferences } from '../models/value-store.ts';

declare module '#core/contract' {
  interface Slots {
    'custom-fields.references': FieldReferences;
  }
}

export default defineSlot<FieldReferences>({
  summary: 'Reports which objects refer to a custom field',
  steady: true,
});
