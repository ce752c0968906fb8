/** Attempts of a device that moves to another organization or is merged into another device. */
import { defineContribution } from '#core';
import { mergeAttempts, moveAttempts } from '../services/rollout/followed-devices.ts';

export default defineContribution('devices.follower', { moved: moveAttempts, merged: mergeAttempts });
