/** The deployment's variables of this module. */
import { defineVariables, variable } from '#core';

/** Deliveries under way at once in a worker process. */
export const variables = defineVariables({ WEBHOOK_CONCURRENCY: variable.number(2, 5000, 100) });
