/** `quartermaster plugin`: the command that the plugins module contributes, without `admin`. */
import { defineCommand } from '../cli/command.ts';

export default defineCommand({
  summary: 'Manage the catalog of plugins',
  description: 'The same as quartermaster admin plugin. Runs in one audited transaction.',
  forms: [],
  moreForms: async () => (await import('../admin/module-commands.ts')).formsOfModuleCommand('plugin'),
  options: { undo: { type: 'boolean', description: 'Take a withdrawal or a mark back' } },
  examples: ['plugin add acme-sync-1.2.0.tgz', 'plugin list', 'plugin yank acme-sync 1.2.0'],
  async run({ positionals, values }) {
    const { runModuleCommand } = await import('../admin/module-commands.ts');
    await runModuleCommand('plugin', values.undo ? [...positionals, '--undo'] : positionals);
    return 0;
  },
});
