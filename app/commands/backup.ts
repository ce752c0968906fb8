/** `quartermaster backup`. */
import { defineCommand } from '../cli/command.ts';

export default defineCommand({
  summary: 'Explain how to back up and restore this installation',
  description: 'Makes no backup: prints the steps for the database and the data folder that the environment names.',
  forms: [{ usage: '', description: 'Prints the steps.' }],
  examples: ['backup'],
  async run() {
    (await import('../backup.ts')).printBackupGuide();
    return 0;
  },
});
