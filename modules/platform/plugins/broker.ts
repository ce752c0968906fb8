/** The program of `quartermaster plugin-broker`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { listenAsBroker } from './services/running/broker/listen.ts';

const HELP = `Usage: quartermaster plugin-broker --socket PATH [options]

Options:
  --socket PATH          The Unix socket to listen on; PLUGINS_BROKER of the servers names it
  --partner-share N      Per cent of the processor time of plugins that those of one partner may take (75)
  --processors N         Processors that all plugins together may keep busy (half of the machine's)
  --help                 Show this help
`;

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** @returns the number, or ends the process where it is none of that range */
function numberOf(name: string, text: string | undefined, least: number, most: number, usual: number): number {
  if (text === undefined) return usual;
  const number = Number(text);
  if (!(number >= least && number <= most)) fail(`--${name} must be a number from ${least} to ${most}`);
  return number;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        socket: { type: 'string' },
        'partner-share': { type: 'string' },
        processors: { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

const options = readOptions();
if (options.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (!options.socket) fail('--socket is missing; see quartermaster plugin-broker --help');
const processors = availableParallelism();
const settings = {
  partnerShare: numberOf('partner-share', options['partner-share'], 1, 100, 75) / 100,
  processors: numberOf('processors', options.processors, 0.1, processors, processors / 2),
};
const place = mkdtempSync(join(tmpdir(), 'quartermaster-broker-'));
const path = resolve(options.socket);
try {
  const { stop } = await listenAsBroker(path, { place, ...settings });
  process.stdout.write(`The broker of plugins listens at ${path}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      stop();
      rmSync(place, { recursive: true, force: true });
      process.exit(0);
    });
} catch (error) {
  rmSync(place, { recursive: true, force: true });
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
