/** Errors of this module. */
import { defineError } from '#core';

/** Thrown when the statement with the conditions exceeds its time limit. */
export const TooExpensive = defineError('FILTER_TOO_EXPENSIVE', 400, 'The conditions take too long to evaluate');
