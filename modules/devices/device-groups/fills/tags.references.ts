/** Renaming a tag asks here which groups follow it, and renames it in their filters. */
import { defineContribution } from '#core';
import { findNaming, renameIn } from '../services/tag-references.ts';

export default defineContribution('tags.references', { find: findNaming, rename: renameIn });
