/** `quartermaster agent`: the reference agent, which reads its own arguments. */
import { defineCommand } from '../cli/command.ts';
import { runScript } from '../cli/script.ts';

export default defineCommand({
  summary: 'Run the reference agent from source (enroll, run, watchdog, uninstall)',
  forms: [{ usage: '<command> [options]', description: 'See quartermaster agent --help.' }],
  examples: ['agent enroll --server http://localhost:3000 --key KEY', 'agent run'],
  pass: (args) => runScript('agent/src/main.ts', args),
});
