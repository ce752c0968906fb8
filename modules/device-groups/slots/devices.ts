/** What devices show of groups, and which groups their list may be narrowed to. */
import { defineFilling } from '#core';
import { groupsOfDevice } from '../services/member-lists.ts';
import { unseen } from '../services/reach.ts';

export default [
  defineFilling({ slot: 'devices.detail', value: { key: 'groups', read: groupsOfDevice } }),
  defineFilling({ slot: 'devices.groups', value: { unseen } }),
];
