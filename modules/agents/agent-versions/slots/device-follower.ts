/** Attempts of a device that moves or becomes one with another: what is under way goes along, history stays or goes over. */
import { defineFilling } from '#core';
import { mergeAttempts, moveAttempts } from '../services/rollout/followed-devices.ts';

export default defineFilling({
  slot: 'devices.follower',
  value: { moved: moveAttempts, merged: mergeAttempts },
});
