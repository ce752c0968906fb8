/** `quartermaster new`: a module to begin with. */
import { defineCommand, UsageError } from '../cli/command.ts';

export default defineCommand({
  summary: 'Make a new module from the example',
  description: 'The module is complete: table, routes, event, job, search and test. Change it into what you need.',
  forms: [{ usage: 'module GROUP/NAME', description: 'Writes modules/GROUP/NAME; NAME is one plural word.' }],
  examples: ['new module devices/bookmarks'],
  async run({ positionals: [kind, place, ...rest] }) {
    if (kind !== 'module' || !place || rest.length > 0) throw new UsageError('new takes: module GROUP/NAME');
    const files = await (await import('../new-module.ts')).newModule(place);
    process.stdout.write(`${files.join('\n')}\nNow run npm run generate, npm run check and npm test.\n`);
    return 0;
  },
});
