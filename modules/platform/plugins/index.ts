/** Plugins: third-party code in processes of its own, each for one organization, limited to the granted capabilities. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { pluginQueue } from './services/dispatch/queue.ts';
import { startPlugins } from './services/start.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'plugins',
  title: 'Plugins',
  summary: 'Third-party code in processes of its own, with declared and granted capabilities',
  requires: ['devices', 'custom-fields', 'schedules'],
  variables,
  default: 'on',
  auditOnly: ['plugin.call', 'plugin.quarantine'],
  objects: { plugins: 'plugin_installations' },
  api,
  start: startPlugins,
  deliveries: [pluginQueue],
});
