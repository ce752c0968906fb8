/**
 * The broker: a process between plugins and the server. It starts the plugins' processes, reads and parses what they say, and
 * passes on what is due, so that none of it takes time or memory of the server.
 */
import { HostError, type HostErrorCode, type WireError } from '#plugin-sdk/host';
import type { Invocation } from '../process/invocation.ts';
import { PluginProcess } from '../process/plugin-process.ts';
import { NICE, setNice } from '../runners/priority.ts';
import { ProcessRunner } from '../runners/process-runner.ts';
import { findSandbox } from '../runners/sandbox.ts';
import { Processors } from './processors.ts';
import { Turnstile } from './turnstile.ts';
import type { Settings, StartRequest, ToBroker, ToServer } from './wire.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
// Behind the server, before the plugins.
setNice(process.pid, process.pid, NICE.broker);
const runner = new ProcessRunner(await findSandbox(settings.place));
const turnstile = new Turnstile();
const processors = new Processors(settings.processors, settings.partnerShare);
const plugins = new Map<number, PluginProcess>();
const asked = new Map<number, { id: number; resolve(value: unknown): void; reject(error: Error): void }>();
let asks = 0;
const GONE = new HostError('INVALID_TOKEN', 'The process has ended');

const tell = (message: ToServer): void => {
  if (process.connected) process.send?.(message);
};

function start(id: number, request: StartRequest): void {
  const { key, partner, folder, main, runtime, limits } = request;
  const running = runner.start({ folder, runtime, limits });
  processors.watch(partner, running);
  const plugin = new PluginProcess(running, limits, {
    async call({ id: invocation }, method, params, bytes) {
      const leave = await turnstile.enter({ partner, plugin: key, bytes, outside: method === 'http.fetch' });
      try {
        return await ask(id, invocation, method, params);
      } finally {
        leave();
      }
    },
    note: (message, invocation) => tell({ is: 'note', id, message, invocation: invocation?.id ?? null }),
  });
  plugins.set(id, plugin);
  plugin.start(main).then(
    (started) => tell({ is: 'started', id, plugin: started }),
    (error: Error) => tell({ is: 'started', id, fault: error.message }),
  );
  void plugin.ended.then((end) => {
    plugins.delete(id);
    turnstile.forget(key);
    for (const one of asked.values()) if (one.id === id) one.reject(GONE);
    tell({ is: 'ended', id, end });
  });
}

async function ask(id: number, invocation: string, method: string, params: unknown): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  if (!plugins.has(id)) throw GONE;
  const n = ++asks;
  asked.set(n, { id, resolve, reject });
  tell({ is: 'asked', id, ask: n, invocation, method, params });
  return promise.finally(() => asked.delete(n));
}

function answer(ask: number, result: unknown, error: WireError | undefined): void {
  const one = asked.get(ask);
  if (error) one?.reject(new HostError(error.code as HostErrorCode, error.message));
  else one?.resolve(result);
}

async function invoke(id: number, call: number, invocation: Invocation): Promise<void> {
  const outcome = await plugins.get(id)?.invoke(invocation);
  if (outcome) tell({ is: 'outcome', id, call, outcome });
}

process.on('message', (message: ToBroker) => {
  if (message.do === 'start') start(message.id, message.request);
  else if (message.do === 'invoke') void invoke(message.id, message.call, message.invocation);
  else if (message.do === 'answer') answer(message.ask, message.result, message.error);
  else if (message.do === 'stop') plugins.get(message.id)?.stop();
  else plugins.get(message.id)?.die(message.end);
});
// However the server ended; what runs here ends with it.
process.on('disconnect', () => {
  for (const plugin of plugins.values()) plugin.die({ kind: 'stopped', reason: 'The server has ended' });
  process.exit(0);
});
tell({ is: 'ready', name: runner.name, walls: runner.walls });
