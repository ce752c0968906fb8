/** Plugins that channels name are not removed. */
import { defineFilling } from '#core';
import { channelsOfPlugin } from '../services/channels.ts';

export default defineFilling({
  slot: 'plugins.usage',
  value: {
    of: async (ctx, { orgIds, slug }) =>
      (await channelsOfPlugin(ctx, orgIds, slug)).map(({ id, name }) => ({ kind: 'alertChannel', id, name })),
  },
});
