/** `quartermaster plugin-broker`: runs the plugins of several servers, as a service of its own. */
import { defineCommand } from '../cli/command.ts';
import { runScript } from '../cli/script.ts';

export default defineCommand({
  summary: 'Run the plugins of several servers, as a service of its own',
  description:
    'Listens on a Unix socket for servers whose PLUGINS_BROKER names it. Needs no database and no secret, so it may run as another ' +
    'user or in another container; the folder of the socket is one that its servers write to and that it reads.',
  forms: [{ usage: '--socket PATH [options]', description: 'See quartermaster plugin-broker --help.' }],
  examples: ['plugin-broker --socket /run/quartermaster/plugins.sock'],
  pass: (args) => runScript('modules/platform/plugins/broker.ts', args),
});
