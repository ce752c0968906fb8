/** The slot `tags.references`. */
import { defineSlot } from '#core';
import type { TagReferences } from '../models/tag-references.ts';

declare module '#core/contract' {
  interface Slots {
    'tags.references': TagReferences;
  }
}

export default defineSlot<TagReferences>({
  summary: 'Finds references to a tag, and renames it in them',
  steady: true,
});
