/** Gives devices the commands that heartbeats carry, and ends those of devices that leave. */
import { defineContribution } from '#core';
import { claim } from '../services/claims.ts';
import { cancelWaiting, queueUninstall } from '../services/departures.ts';
import { openPayloads } from '../services/sealed-payloads.ts';

export default defineContribution('devices.commands', {
  isWaiting: (deviceId) =>
    // reach: the statement of the heartbeat: the agent's own device
    `exists (select from device_commands c where c.device_id = ${deviceId} and c.status = 'pending')`,
  countWaiting: (deviceId) =>
    // reach: the statement of the heartbeat: the agent's own device
    `(select count(*) from device_commands c where c.device_id = ${deviceId} and c.status = 'pending')`,
  claim,
  open: openPayloads,
  cancelWaiting,
  queueUninstall,
});
