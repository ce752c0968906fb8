/** Renaming a tag asks here which groups follow it, and renames it in their filters. */
import { defineFilling } from '#core';
import { findNaming, renameIn } from '../services/tag-references.ts';

export default defineFilling({ slot: 'tags.references', value: { find: findNaming, rename: renameIn } });
