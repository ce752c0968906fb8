/** The deployment's variables of this module. */
import Joi from 'joi';
import { defineVariables, variable } from '#core';

export const variables = defineVariables({
  /** How long an enrollment key is valid, in minutes, where its creator does not say. */
  ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: variable.number(1, 525_600, 60),
  /** Of the terms that people accept when they register; recorded with each acceptance. */
  TERMS_VERSION: variable.textOr('1', Joi.string().max(100)),
  /** Whether a system administrator approves partners that register. */
  PARTNER_APPROVAL: variable.oneOf(['none', 'required'], 'none'),
});
