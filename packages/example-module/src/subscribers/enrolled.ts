/** A device that enrolls gets the next number, where its organization wants that. */
import { defineSubscriber } from '@quartermaster/module-kit';
import type { Settings } from '../models/settings.ts';
import { give } from '../services/numbers.ts';

export default defineSubscriber({
  on: 'devices.enrolled',
  summary: 'Labels a device as it enrolls',
  async run(ctx, { orgId, deviceId }) {
    if (!orgId || !deviceId) return;
    const { automatic } = await ctx.settings<Settings>('acme-asset-labels', orgId);
    if (automatic) await give(ctx, { orgId, deviceId });
  },
});
