/**
 * The broker that a server starts for itself: a process between plugins and the server. It starts the plugins' processes, reads
 * and parses what they say, and passes on what is due, so that none of it takes time or memory of the server.
 */
import { NICE, setNice } from '../runners/priority.ts';
import { ProcessRunner } from '../runners/process-runner.ts';
import { findSandbox } from '../runners/sandbox.ts';
import { BrokeredWork } from './brokered-work.ts';
import { Processors } from './processors.ts';
import { Turnstile } from './turnstile.ts';
import type { Settings, ToBroker } from './wire.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
// Behind the server, before the plugins.
setNice(process.pid, process.pid, NICE.broker);
const shared = {
  runner: new ProcessRunner(await findSandbox(settings.place)),
  turnstile: new Turnstile(),
  processors: new Processors(settings.processors, settings.partnerShare),
};
const work = new BrokeredWork(shared, '', (message) => {
  if (process.connected) process.send?.(message);
});
process.on('message', (message: ToBroker) => work.hear(message));
process.on('disconnect', () => {
  work.end();
  process.exit(0);
});
