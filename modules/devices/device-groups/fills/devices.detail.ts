/** The groups of a device, in its details. */
import { defineContribution } from '#core';
import { groupsOfDevices } from '../services/members/member-lists.ts';

export default defineContribution('devices.detail', { key: 'groups', readMany: groupsOfDevices });
