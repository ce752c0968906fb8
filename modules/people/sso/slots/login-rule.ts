/** Shuts passwords out of organizations whose active provider is enforced. */
import { defineFilling } from '#core';
import { enforcedOrgs } from '../services/serving.ts';

export default defineFilling({ slot: 'identity.login-rule', value: { withoutPassword: enforcedOrgs } });
