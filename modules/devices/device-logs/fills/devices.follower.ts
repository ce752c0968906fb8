/** Logs stay with the organization they were written in, and go with their device when it is merged or purged. */
import { defineContribution } from '#core';
import { leaveLogs, mergeLogs, purgeLogs } from '../services/followed-devices.ts';

export default defineContribution('devices.follower', {
  moved: (ctx, { deviceId }) => leaveLogs(ctx, deviceId),
  merged: mergeLogs,
  purged: purgeLogs,
});
