/** Errors of this module. */
import { defineError } from '#core';

export const TooExpensive = defineError('FILTER_TOO_EXPENSIVE', 400, 'The conditions take too long to evaluate');
