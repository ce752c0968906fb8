/** `quartermaster start`. */
import { explain } from '../../core/explain.ts';
import { defineCommand } from '../cli/command.ts';
import { sentenceOf } from '../cli/run.ts';

export default defineCommand({
  summary: 'Start the server',
  description:
    'Runs until it is stopped by SIGINT or SIGTERM. The variable ROLE says what the process does: api, worker, or all (the default). Without DATABASE_URL it starts its own PostgreSQL in DATA_DIR.',
  forms: [{ usage: '', description: 'Runs the API and the workers, or what ROLE says.' }],
  examples: ['start'],
  async run() {
    const { startProcess } = await import('../main.ts');
    try {
      await startProcess();
      return null;
    } catch (error) {
      const isPlain = error instanceof Error && error.name === 'Error';
      // The stack of an unexpected error belongs into a report of it.
      process.stderr.write(`${isPlain ? explain(error) : sentenceOf(error)}\n`);
      return 1;
    }
  },
});
