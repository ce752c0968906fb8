/** An event that a plugin emits. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface PluginEvent {
  installationId: string;
  slug: string;
  name: string;
  data: Record<string, unknown>;
  /** The number of plugins between this event and the action of a person or device that caused it. */
}

export default defineEvent({
  summary: 'A plugin told something',
  data: Joi.object<PluginEvent>({
    installationId: Joi.string().uuid().required(),
    slug: Joi.string().required(),
    name: Joi.string().required(),
    data: Joi.object().unknown().required().description('What the plugin says'),
  }),
  example: {
    installationId: '7c9e6679-7425-40de-944b-000000000001',
    slug: 'asset-notes',
    name: 'noted',
    data: { notes: 3 },
  },
  webhook: {
    kind: 'plugin.event',
    pick: ['installationId', 'slug', 'name', 'data'],
    precise: {
      form: 'plugin.<slug>.<name>',
      pattern: /^plugin\.[a-z][a-z0-9-]{2,63}\.[a-z][a-z0-9_.]{0,63}$/,
      of: ({ slug, name }) => `plugin.${slug}.${name}`,
      sql: `'plugin.' || (events.data ->> 'slug') || '.' || (events.data ->> 'name')`,
    },
  },
});
