/** What this module refuses. */
import { defineError } from '#core';

export const TooManyStreams = defineError('TOO_MANY_STREAMS', 429, 'Too many streams are open for this tenant');
