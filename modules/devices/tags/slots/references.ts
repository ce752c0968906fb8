/** The slot `tags.references`. */
import { defineSlot } from '#core';
import type { TagReferences } from '../models/tag-references.ts';

declare module '#core/contract' {
  interface Slots {
    'tags.references': TagReferences;
  }
}

export default defineSlot<TagReferences>({
  summary: 'Finds and renames references to a tag',
  steady: true,
});
