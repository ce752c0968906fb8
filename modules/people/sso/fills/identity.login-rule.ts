/** Forbids passwords in organizations whose active provider is enforced. */
import { defineContribution } from '#core';
import { enforcedOrgs } from '../services/serving.ts';

export default defineContribution('identity.login-rule', { withoutPassword: enforcedOrgs });
