/** Reports the channels that use a plugin, so that the plugin is not removed. */
import { defineContribution } from '#core';
import { channelsOfPlugin } from '../services/channels.ts';

export default defineContribution('plugins.usage', {
  of: async (ctx, { orgIds, slug }) =>
    (await channelsOfPlugin(ctx, orgIds, slug)).map(({ id, name }) => ({ kind: 'alertChannel', id, name })),
});
