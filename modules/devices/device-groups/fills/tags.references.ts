/** Groups whose filter names a tag: found before the tag is renamed, and changed by the renaming. */
import { defineContribution } from '#core';
import { findNaming, renameIn } from '../services/tag-references.ts';

export default defineContribution('tags.references', { find: findNaming, rename: renameIn });
