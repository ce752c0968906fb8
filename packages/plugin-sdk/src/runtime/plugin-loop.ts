/** Speaks the protocol inside of the plugin's process: loads the plugin, runs its handlers, and asks the host. On every runtime. */
import { HostError, type HostErrorCode, toWireError, type WireError } from '../failures.ts';
import { MAX_OPEN_CALLS } from '../limits.ts';
import type { Plugin, PluginContext } from '../plugin.ts';
import type { InvokeParams, StartedPlugin, StartParams } from '../protocol/wire.ts';
import { contentsOf, pluginIn, runHandler } from './loaded-plugin.ts';
import { createPluginContext, type HostCall } from './plugin-context.ts';

export interface Message {
  id?: string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: WireError;
}
export interface Surroundings {
  /** False where the message is larger than the other side takes; it is not sent then. */
  send(message: object): boolean;
  load(main: string): Promise<{ default?: unknown }>;
  /** Runs a handler so that its context can be told while it works. */
  within(ctx: PluginContext, run: () => Promise<unknown>): Promise<unknown>;
  exit(): void;
}
interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Calls of the host that wait for their answers. */
class Calls {
  private readonly send: Surroundings['send'];
  private readonly waiting = new Map<string, Waiting>();
  private count = 0;

  constructor(send: Surroundings['send']) {
    this.send = send;
  }

  with(token: string): HostCall {
    return (method, params) => {
      if (this.waiting.size >= MAX_OPEN_CALLS)
        return Promise.reject(new HostError('RATE_LIMITED', 'Too many calls stand open'));
      const id = `c${++this.count}`;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      this.waiting.set(id, { resolve, reject });
      // The head comes first and in this order: the host judges it before it parses what follows.
      if (!this.send({ id, method, token, params })) {
        this.settle(id, { error: { code: 'TOO_LARGE', message: 'A call is larger than 1 MB' } });
      }
      return promise;
    };
  }

  settle(id: string, { result, error }: Message): void {
    const one = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) one?.reject(new HostError(error.code as HostErrorCode, error.message));
    else one?.resolve(result);
  }
}

/** What to do with each message of the host. */
export function openLoop({ send, load, within, exit }: Surroundings): (message: Message) => void {
  const invocations = new Map<string, AbortController>();
  const calls = new Calls(send);
  let plugin: Plugin | null = null;

  async function answer(id: string, token: string, run: () => Promise<unknown>): Promise<void> {
    let message: object;
    try {
      message = { id, token, result: (await run()) ?? null };
    } catch (error) {
      message = { id, token, error: toWireError(error) };
    }
    if (send(message)) return;
    send({ id, token, error: { code: 'TOO_LARGE', message: 'The result is larger than 1 MB' } });
  }

  async function start({ main }: StartParams): Promise<StartedPlugin> {
    plugin = pluginIn(await load(main));
    return contentsOf(plugin);
  }

  async function invoke(id: string, params: InvokeParams): Promise<void> {
    const { invocationId, token, timeoutMs, config, org } = params;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), timeoutMs);
    invocations.set(invocationId, ending);
    const call = calls.with(token);
    const ctx = createPluginContext({ config, org, invocationId, signal: ending.signal, call });
    await answer(id, token, () => within(ctx, async () => runHandler(plugin, params, ctx)));
    clearTimeout(timer);
    invocations.delete(invocationId);
  }

  return (message) => {
    const { id, method } = message;
    if (id !== undefined && method === 'start') void answer(id, 'start', () => start(message.params as StartParams));
    else if (id !== undefined && method === 'invoke') void invoke(id, message.params as InvokeParams);
    else if (method === 'cancel') invocations.get((message.params as { invocation: string }).invocation)?.abort();
    else if (method === 'stop') exit();
    else if (id !== undefined) calls.settle(id, message);
  };
}
