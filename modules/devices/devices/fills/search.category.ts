/** Devices by host name and display name. */
import { defineContribution } from '#core';
import { searchDevices } from '../services/lists/name-search.ts';

export default defineContribution('search.category', {
  type: 'devices',
  permission: 'devices:read',
  find: (ctx, { text, limit }) => searchDevices(ctx, text, limit),
});
