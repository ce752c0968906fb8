/** Devices by host name and display name. */
import { defineFilling } from '#core';
import { searchDevices } from '../services/lists/name-search.ts';

export default defineFilling({
  slot: 'search.category',
  value: {
    type: 'devices',
    permission: 'devices:read',
    find: (ctx, { text, limit }) => searchDevices(ctx, text, limit),
  },
});
