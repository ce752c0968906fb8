/** Errors of this module. */
import { defineError } from '#core';

/** Thrown when a note is added to a device that has the maximum number of notes. */
export const NoteLimit = defineError('NOTE_LIMIT_REACHED', 409, 'A device has at most 100 notes');
