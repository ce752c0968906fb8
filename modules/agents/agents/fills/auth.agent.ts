/** Lets agents in: the core asks whose token it is. */
import { defineContribution } from '#core';
import { authenticate } from '../services/tokens/authentication.ts';

export default defineContribution('auth.agent', { authenticate });
