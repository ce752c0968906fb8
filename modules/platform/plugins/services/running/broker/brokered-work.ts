/** The broker's work for one server: it runs the plugins that the server asks for, and passes on what they say when it is due. */
import { HostError, type HostErrorCode, type WireError } from '#plugin-sdk/host';
import type { Invocation } from '../process/invocation.ts';
import { PluginProcess } from '../process/plugin-process.ts';
import type { Runner } from '../runners/runner.ts';
import type { Processors } from './processors.ts';
import type { Turnstile } from './turnstile.ts';
import type { StartRequest, ToBroker, ToServer } from './wire.ts';

const GONE = new HostError('INVALID_TOKEN', 'The process has ended');

/** What the plugins of all servers share that use one broker. */
export interface Shared {
  runner: Runner;
  turnstile: Turnstile;
  processors: Processors;
}

/** The plugins of one server. */
export class BrokeredWork {
  private readonly shared: Shared;
  private readonly server: string;
  private readonly tell: (message: ToServer) => void;
  private readonly plugins = new Map<number, PluginProcess>();
  private readonly asked = new Map<number, { id: number; resolve(value: unknown): void; reject(error: Error): void }>();
  private asks = 0;

  /** @param server tells the servers apart that use this broker */
  constructor(shared: Shared, server: string, tell: (message: ToServer) => void) {
    this.shared = shared;
    this.server = server;
    this.tell = tell;
    tell({ is: 'ready', name: shared.runner.name, walls: shared.runner.walls });
  }

  hear(message: ToBroker): void {
    if (message.do === 'start') this.start(message.id, message.request);
    else if (message.do === 'invoke') void this.invoke(message.id, message.call, message.invocation);
    else if (message.do === 'answer') this.answer(message.ask, message.result, message.error);
    else if (message.do === 'stop') this.plugins.get(message.id)?.stop();
    else this.plugins.get(message.id)?.die(message.end);
  }

  /** However the server ended; what it runs here ends with it. */
  end(): void {
    for (const plugin of this.plugins.values()) plugin.die({ kind: 'stopped', reason: 'The server has ended' });
  }

  private start(id: number, { key, partner, folder, main, runtime, limits }: StartRequest): void {
    const { runner, turnstile, processors } = this.shared;
    const name = `${this.server} ${key}`;
    const running = runner.start({ folder, runtime, limits });
    processors.watch(partner, running);
    const plugin = new PluginProcess(running, limits, {
      call: async ({ id: invocation }, method, params, bytes) => {
        const leave = await turnstile.enter({ partner, plugin: name, bytes, outside: method === 'http.fetch' });
        try {
          return await this.ask(id, invocation, method, params);
        } finally {
          leave();
        }
      },
      note: (message, invocation) => this.tell({ is: 'note', id, message, invocation: invocation?.id ?? null }),
    });
    this.plugins.set(id, plugin);
    plugin.start(main).then(
      (started) => this.tell({ is: 'started', id, plugin: started }),
      (error: Error) => this.tell({ is: 'started', id, fault: error.message }),
    );
    void plugin.ended.then((end) => {
      this.plugins.delete(id);
      turnstile.forget(name);
      for (const one of this.asked.values()) if (one.id === id) one.reject(GONE);
      this.tell({ is: 'ended', id, end });
    });
  }

  private async ask(id: number, invocation: string, method: string, params: unknown): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (!this.plugins.has(id)) throw GONE;
    const ask = ++this.asks;
    this.asked.set(ask, { id, resolve, reject });
    this.tell({ is: 'asked', id, ask, invocation, method, params });
    return promise.finally(() => this.asked.delete(ask));
  }

  private answer(ask: number, result: unknown, error: WireError | undefined): void {
    const one = this.asked.get(ask);
    if (error) one?.reject(new HostError(error.code as HostErrorCode, error.message));
    else one?.resolve(result);
  }

  private async invoke(id: number, call: number, invocation: Invocation): Promise<void> {
    const outcome = await this.plugins.get(id)?.invoke(invocation);
    if (outcome) this.tell({ is: 'outcome', id, call, outcome });
  }
}
