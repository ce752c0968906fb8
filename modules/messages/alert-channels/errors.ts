/** Errors of this module. */
import { defineError } from '#core';

export const UnknownType = defineError('UNKNOWN_CHANNEL_TYPE', 400, 'There is no such kind of channel');
