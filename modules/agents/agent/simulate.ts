/** The command line of the simulator: many invented devices in one process, for demonstrations and load. */
import { parseArgs } from 'node:util';
import { apiBase, createClient } from './client.ts';
import { stopSignal } from './signals.ts';
import { Crowd } from './simulated/crowd.ts';
import { Rates } from './simulated/rates.ts';
import { DEFAULT_TIMING, pause } from './timing.ts';

const HELP = `Usage:
  simulate --server URL --key KEY --devices N [--secret S] [--interval SECONDS]

Enrolls N invented devices, which beat, send inventory and answer commands until Ctrl-C.
--interval makes them beat this often whatever the server says.`;

const LINE_EVERY_MS = 5_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      server: { type: 'string' },
      key: { type: 'string' },
      secret: { type: 'string' },
      devices: { type: 'string' },
      interval: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { server, key, secret } = values;
  const devices = Number(values.devices);
  const intervalSeconds = values.interval === undefined ? undefined : Number(values.interval);
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (!server || !key || !Number.isInteger(devices) || devices < 1 || (intervalSeconds ?? 1) <= 0) {
    console.error(HELP);
    return 2;
  }
  apiBase(server);
  const signal = stopSignal();
  const rates = new Rates();
  const call = rates.counted(createClient(server, DEFAULT_TIMING.request));
  const log = (line: string): void => console.log(line);
  const crowd = new Crowd({ call, server, key, secret, devices, intervalSeconds, timing: DEFAULT_TIMING, signal, log });
  const telling = tell(crowd, rates, signal);
  const refusal = await crowd.gather();
  if (refusal && crowd.running === 0) throw new Error(refusal);
  if (refusal) console.log(`${refusal} Going on with ${crowd.running} of ${devices} devices.`);
  await crowd.ended();
  if (!signal.aborted) {
    console.log('All devices were removed by the server.');
    return 0;
  }
  await telling;
  console.log('The simulation stopped.');
  return 0;
}

async function tell(crowd: Crowd, rates: Rates, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(LINE_EVERY_MS, signal);
    if (!signal.aborted) console.log(rates.line(crowd.running));
  }
}

main().then(
  (code) => process.exit(code),
  (fault) => {
    console.error(fault instanceof Error ? fault.message : String(fault));
    process.exit(1);
  },
);
