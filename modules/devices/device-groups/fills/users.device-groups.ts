/** Users can be limited to groups: returns which of the given groups do not exist. */
import { defineContribution } from '#core';
import { missing } from '../services/reach.ts';

export default defineContribution('users.device-groups', { missing });
