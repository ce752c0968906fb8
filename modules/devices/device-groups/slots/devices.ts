/** What devices show of groups, which groups their list may be narrowed to, and what a merge carries over. */
import { defineFilling } from '#core';
import { carryMemberships } from '../services/members/carried-members.ts';
import { joinGroups, mustBeJoinable } from '../services/members/joins.ts';
import { groupsOfDevices } from '../services/members/member-lists.ts';
import { unseen } from '../services/reach.ts';

export default [
  defineFilling({ slot: 'devices.detail', value: { key: 'groups', readMany: groupsOfDevices } }),
  defineFilling({ slot: 'devices.groups', value: { unseen, mustBeJoinable, join: joinGroups } }),
  defineFilling({
    slot: 'devices.follower',
    value: { merged: (ctx, { fromDeviceId, intoDeviceId }) => carryMemberships(ctx, fromDeviceId, intoDeviceId) },
  }),
];
