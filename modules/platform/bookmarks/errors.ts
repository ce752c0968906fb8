/** Errors of this module. */
import { defineError } from '#core';

/** Thrown when a bookmark is added to a device that has the maximum number of bookmarks. */
export const BookmarkLimit = defineError('BOOKMARK_LIMIT_REACHED', 409, 'A device has at most 100 bookmarks');
