/** The slot `filters.field`. */
import { defineSlot } from '#core';
import type { FieldSource } from '../models/field.ts';

declare module '#core/contract' {
  interface Slots {
    'filters.field': FieldSource;
  }
}

export default defineSlot<FieldSource>({
  summary: 'Adds fields to filters',
});
