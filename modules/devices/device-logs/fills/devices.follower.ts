/** Logs stay with their organization when the device moves, and follow the device when it is merged or purged. */
import { defineContribution } from '#core';
import { leaveLogs, mergeLogs, purgeLogs } from '../services/followed-devices.ts';

export default defineContribution('devices.follower', {
  moved: (ctx, { deviceId }) => leaveLogs(ctx, deviceId),
  merged: mergeLogs,
  purged: purgeLogs,
});
