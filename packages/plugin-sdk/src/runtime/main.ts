/** The plugin's process: loads one plugin, runs its handlers when the host says so, and asks the host for everything else. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HostError, type HostErrorCode, toWireError, type WireError } from '../failures.ts';
import { MAX_OPEN_CALLS } from '../limits.ts';
import type { Plugin, PluginContext } from '../plugin.ts';
import type { InvokeParams, StartedPlugin, StartParams } from '../protocol/wire.ts';
import { consoleOver } from './console.ts';
import { openLink } from './link.ts';
import { contentsOf, pluginIn, runHandler } from './loaded-plugin.ts';
import { lockDown } from './lockdown.ts';
import { createPluginContext, type HostCall } from './plugin-context.ts';

type Message = { id?: string; method?: string; params?: unknown; result?: unknown; error?: WireError };
interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const link = openLink(hear);
const exit = process.exit.bind(process);
const invocations = new Map<string, AbortController>();
const waiting = new Map<string, Waiting>();
const current = new AsyncLocalStorage<PluginContext>();
let calls = 0;
let plugin: Plugin | null = null;

// As source or as published.
lockDown(new URL(`../index${extname(import.meta.url)}`, import.meta.url).href);
Reflect.defineProperty(globalThis, 'console', {
  value: Object.freeze(consoleOver(() => current.getStore()?.log)),
  configurable: false,
});

function hear(message: Message): void {
  const { id, method } = message;
  if (id !== undefined && method === 'start') void answer(id, 'start', () => start(message.params as StartParams));
  else if (id !== undefined && method === 'invoke') void invoke(id, message.params as InvokeParams);
  else if (method === 'cancel') invocations.get((message.params as { invocation: string }).invocation)?.abort();
  else if (method === 'stop') exit(0);
  else if (id !== undefined) settle(id, message);
}

function settle(id: string, { result, error }: Message): void {
  const one = waiting.get(id);
  waiting.delete(id);
  if (error) one?.reject(new HostError(error.code as HostErrorCode, error.message));
  else one?.resolve(result);
}

async function answer(id: string, token: string, run: () => Promise<unknown>): Promise<void> {
  let message: object;
  try {
    message = { id, token, result: (await run()) ?? null };
  } catch (error) {
    message = { id, token, error: toWireError(error) };
  }
  if (link.send(message)) return;
  link.send({ id, token, error: { code: 'TOO_LARGE', message: 'The result is larger than 1 MB' } });
}

async function start({ main }: StartParams): Promise<StartedPlugin> {
  plugin = pluginIn((await import(pathToFileURL(main).href)) as { default?: unknown });
  return contentsOf(plugin);
}

async function invoke(id: string, params: InvokeParams): Promise<void> {
  const { invocationId, token, timeoutMs, config, org } = params;
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), timeoutMs);
  invocations.set(invocationId, ending);
  const call = callWith(token);
  const ctx = createPluginContext({ config, org, invocationId, signal: ending.signal, call });
  await answer(id, token, () => current.run(ctx, async () => runHandler(plugin, params, ctx)));
  clearTimeout(timer);
  invocations.delete(invocationId);
}

function callWith(token: string): HostCall {
  return (method, params) => {
    if (waiting.size >= MAX_OPEN_CALLS)
      return Promise.reject(new HostError('RATE_LIMITED', 'Too many calls stand open'));
    const id = `c${++calls}`;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(id, { resolve, reject });
    if (!link.send({ id, method, token, params })) {
      settle(id, { error: { code: 'TOO_LARGE', message: 'A call is larger than 1 MB' } });
    }
    return promise;
  };
}
