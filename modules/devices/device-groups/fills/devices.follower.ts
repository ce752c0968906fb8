/** Carries memberships over when two devices are merged. */
import { defineContribution } from '#core';
import { carryMemberships } from '../services/members/carried-members.ts';

export default defineContribution('devices.follower', {
  merged: (ctx, { fromDeviceId, intoDeviceId }) => carryMemberships(ctx, fromDeviceId, intoDeviceId),
});
