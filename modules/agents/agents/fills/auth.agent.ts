/** Authenticates agents for core. */
import { defineContribution } from '#core';
import { authenticate } from '../services/tokens/authentication.ts';

export default defineContribution('auth.agent', { authenticate });
