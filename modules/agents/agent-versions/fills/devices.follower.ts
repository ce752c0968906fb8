/** Attempts of a device that moves or becomes one with another: what is under way goes along, history stays or goes over. */
import { defineContribution } from '#core';
import { mergeAttempts, moveAttempts } from '../services/rollout/followed-devices.ts';

export default defineContribution('devices.follower', { moved: moveAttempts, merged: mergeAttempts });
