/** Answers commands the way a device would, without doing anything to the machine the simulator runs on. */
import type { Handler } from '../commands/contract.ts';
import { HANDLERS } from '../commands/handlers.ts';
import { POWER_COMMANDS } from '../commands/power.ts';
import { pause } from '../timing.ts';

const LONGEST_MS = 800;

const script: Handler = async (payload, _host, { signal }) => {
  await pause(50 + Math.random() * LONGEST_MS, signal);
  if (signal.aborted) return { status: 'failed', error: 'agent stopped while the command ran' };
  const lines = typeof payload.content === 'string' ? payload.content.split('\n').length : 0;
  const stdout = `simulated: ${lines} lines of ${String(payload.language)} were not run\n`;
  return { status: 'completed', exitCode: 0, stdout, stderr: '' };
};

const power: Handler = async () => ({ status: 'completed', result: { simulated: true } });

/** The reference handlers, with the ones that would touch the host replaced. */
export const SIMULATED_HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ...HANDLERS,
  ['script', script],
  ...POWER_COMMANDS.map((type): [string, Handler] => [type, power]),
]);
