/** `quartermaster doctor`. */
import { defineCommand } from '../cli/command.ts';

export default defineCommand({
  summary: 'Check configuration, database, migrations, workers, Redis, mail and disk',
  description:
    'Prints PASS or FAIL for each check, with what to do about a failure. The exit code is 1 when a check fails.',
  forms: [{ usage: '', description: 'Checks the installation that the environment describes; changes nothing.' }],
  examples: ['doctor'],
  run: async () => (await import('../doctor/doctor.ts')).examine(),
});
