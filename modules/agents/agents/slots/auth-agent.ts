/** Lets agents in: the core asks whose token it is. */
import { defineFilling } from '#core';
import { authenticate } from '../services/tokens/authentication.ts';

export default defineFilling({ slot: 'auth.agent', value: { authenticate } });
