/** The groups by which device lists can be narrowed, and which new devices can join. */
import { defineContribution } from '#core';
import { joinGroups, mustBeJoinable } from '../services/members/joins.ts';
import { unseen } from '../services/reach.ts';

export default defineContribution('devices.groups', { unseen, mustBeJoinable, join: joinGroups });
