/** `quartermaster simulate`: invented devices, for demonstrations and load. */
import { defineCommand } from '../cli/command.ts';
import { runScript } from '../cli/script.ts';

export default defineCommand({
  summary: 'Simulate many devices, for demonstrations and load',
  forms: [{ usage: '--server URL --key KEY --devices N [options]', description: 'See quartermaster simulate --help.' }],
  examples: ['simulate --server http://localhost:3000 --key KEY --devices 50'],
  pass: (args) => runScript('agent/src/simulate.ts', args),
});
