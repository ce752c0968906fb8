/** Gives devices the commands that heartbeats carry, and ends those of devices that leave. */
import { defineFilling } from '#core';
import { claim } from '../services/claims.ts';
import { cancelWaiting, queueUninstall } from '../services/departures.ts';

export default defineFilling({
  slot: 'devices.commands',
  value: {
    isWaiting: (deviceId) =>
      `exists (select from device_commands c where c.device_id = ${deviceId} and c.status = 'pending')`,
    countWaiting: (deviceId) =>
      `(select count(*) from device_commands c where c.device_id = ${deviceId} and c.status = 'pending')`,
    claim,
    cancelWaiting,
    queueUninstall,
  },
});
