/** What happens to commands when a device is merged or purged. A moved device leaves its commands with the old organization. */
import { defineFilling } from '#core';
import { removeCommands, takeOverCommands } from '../services/retention.ts';

export default defineFilling({
  slot: 'devices.follower',
  value: { purged: removeCommands, mergedHistory: takeOverCommands },
});
