/** `quartermaster generate`. */
import { defineCommand } from '../cli/command.ts';
import { runScript } from '../cli/script.ts';

export default defineCommand({
  summary: 'Write the generated files of the repository anew',
  description: 'For development: openapi.json, docs/catalog.md, migrations/schema.sql, and the types of the client.',
  forms: [{ usage: '', description: 'Writes all of them; tests fail when they are not up to date.' }],
  examples: ['generate'],
  async run() {
    await (await import('../generate.ts')).generateFiles();
    return runScript('client/build/generate.ts', []);
  },
});
