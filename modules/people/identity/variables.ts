/** The deployment's variables of this module. */
import { defineVariables, variable } from '#core';

/** How long an enrollment key is valid, in minutes, where its creator does not say. */
export const variables = defineVariables({ ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: variable.number(1, 525_600, 60) });
