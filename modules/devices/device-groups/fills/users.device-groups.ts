/** People may be limited to groups: says which of those named there are. */
import { defineContribution } from '#core';
import { missing } from '../services/reach.ts';

export default defineContribution('users.device-groups', { missing });
