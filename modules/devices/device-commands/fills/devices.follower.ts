/** What happens to commands when a device is merged or purged. A moved device leaves its commands with the old organization. */
import { defineContribution } from '#core';
import { removeCommands, takeOverCommands } from '../services/retention.ts';

export default defineContribution('devices.follower', { purged: removeCommands, mergedHistory: takeOverCommands });
