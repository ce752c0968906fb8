/** `quartermaster migrate`. */
import { defineCommand } from '../cli/command.ts';

export default defineCommand({
  summary: 'Bring the database up to date without starting the server',
  description: 'Other processes that migrate at the same time wait for each other. Applied migrations never run again.',
  forms: [{ usage: '[--dry-run]', description: 'Applies the migrations of core, modules and module packages.' }],
  options: { 'dry-run': { type: 'boolean', description: 'List the migrations that would be applied; change nothing' } },
  examples: ['migrate --dry-run', 'migrate'],
  run: async ({ values }) => (await import('../migrate.ts')).migrateDatabase({ dryRun: values['dry-run'] === true }),
});
