/** The command line of the simulator: many invented devices in one process, for demonstrations and load. */
import { parseArgs } from 'node:util';
import { apiBase, createClient } from './link/client.ts';
import { socketOpener } from './link/socket.ts';
import { stopSignal } from './signals.ts';
import { Crowd } from './simulated/crowd.ts';
import { Mischief, type MischiefOptions } from './simulated/mischief.ts';
import { Rates } from './simulated/rates.ts';
import { DEFAULT_TIMING, pause } from './timing.ts';

const HELP = `Usage:
  simulate --server URL --key KEY --devices N [--secret S] [--interval SECONDS] [--no-sockets]
           [--storm SECONDS] [--skew SECONDS] [--duplicates SHARE] [--malformed N] [--oversized N]

Enrolls N simulated devices, which stay connected, send heartbeats and inventory and answer commands until Ctrl-C.

  --interval SECONDS   interval of heartbeats, overriding the server
  --no-sockets         they only poll
  --storm SECONDS      all connections break at once, this often
  --skew SECONDS       their clocks are wrong by up to this much
  --duplicates SHARE   of their frames, 0 to 1, are sent twice
  --malformed N        each sends N invalid frames a minute
  --oversized N        each sends N frames an hour that are too large`;

const LINE_EVERY_MS = 5_000;

interface SimulationOptions {
  server: string;
  key: string;
  secret: string | undefined;
  devices: number;
  intervalSeconds: number | undefined;
  sockets: boolean;
  /** Undefined where connections do not break at intervals. */
  stormSeconds: number | undefined;
  mischief: MischiefOptions;
}

/** The options of the command line; `help` where the user asks for it, undefined where they are not valid. */
function readOptions(): SimulationOptions | 'help' | undefined {
  const { values } = parseArgs({
    options: {
      server: { type: 'string' },
      key: { type: 'string' },
      secret: { type: 'string' },
      devices: { type: 'string' },
      interval: { type: 'string' },
      'no-sockets': { type: 'boolean', default: false },
      storm: { type: 'string' },
      skew: { type: 'string', default: '0' },
      duplicates: { type: 'string', default: '0' },
      malformed: { type: 'string', default: '0' },
      oversized: { type: 'string', default: '0' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const { server, key, secret } = values;
  const devices = Number(values.devices);
  const intervalSeconds = values.interval === undefined ? undefined : Number(values.interval);
  const numbers = [values.skew, values.duplicates, values.malformed, values.oversized, values.storm ?? 1].map(Number);
  const wrong = numbers.some((one) => !(one >= 0)) || (intervalSeconds ?? 1) <= 0;
  if (!server || !key || !Number.isInteger(devices) || devices < 1 || wrong) return undefined;
  return {
    server,
    key,
    secret,
    devices,
    intervalSeconds,
    sockets: !values['no-sockets'],
    stormSeconds: values.storm ? Number(values.storm) : undefined,
    mischief: {
      skewSeconds: Number(values.skew),
      duplicates: Number(values.duplicates),
      malformedPerMinute: Number(values.malformed),
      oversizedPerHour: Number(values.oversized),
    },
  };
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options === 'help') {
    console.log(HELP);
    return 0;
  }
  if (!options) {
    console.error(HELP);
    return 2;
  }
  const { server, key, secret, devices, intervalSeconds } = options;
  apiBase(server);
  const signal = stopSignal();
  const rates = new Rates();
  const call = rates.counted(createClient(server, DEFAULT_TIMING.request));
  const log = (line: string): void => console.log(line);
  const mischief = new Mischief(options.mischief, rates);
  const open = socketOpener(server);
  const crowd = new Crowd({
    call,
    server,
    key,
    secret,
    devices,
    intervalSeconds,
    timing: DEFAULT_TIMING,
    signal,
    log,
    ...(options.sockets && { openSocket: () => mischief.device(open) }),
  });
  const printing = printRates(crowd, rates, mischief, signal);
  if (options.stormSeconds !== undefined) void storms(mischief, options.stormSeconds * 1000, signal);
  const fault = await crowd.gather();
  if (fault && crowd.running === 0) throw new Error(fault);
  if (fault) console.log(`${fault} Going on with ${crowd.running} of ${devices} devices.`);
  await crowd.ended();
  if (!signal.aborted) {
    console.log('All devices were removed by the server.');
    return 0;
  }
  await printing;
  console.log('The simulation stopped.');
  return 0;
}

async function printRates(crowd: Crowd, rates: Rates, mischief: Mischief, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(LINE_EVERY_MS, signal);
    if (!signal.aborted) console.log(`${rates.line(crowd.running)}, ${mischief.connected} connected`);
  }
}

async function storms(mischief: Mischief, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs, signal);
    mischief.storm();
  }
}

main().then(
  (code) => process.exit(code),
  (fault) => {
    console.error(fault instanceof Error ? fault.message : String(fault));
    process.exit(1);
  },
);
