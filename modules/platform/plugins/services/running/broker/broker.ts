/** The server's end of the broker: reached with the first plugin, and again when it was lost. */
import { HostError, toWireError, type WireError } from '#plugin-sdk/host';
import type { Invocation } from '../process/invocation.ts';
import type { Walls } from '../runners/runner.ts';
import { BrokeredPlugin } from './brokered-plugin.ts';
import { type Channel, forkBroker, joinBroker } from './channel.ts';
import type { Settings, StartRequest, ToServer } from './wire.ts';

export interface PluginEvents {
  /** Rejects with a HostError where the plugin may see why. */
  call(invocation: Invocation, method: string, params: unknown): Promise<unknown>;
  /** Worth a line in the plugin's log. */
  note(message: string, invocation: Invocation | null): void;
}
export interface Ready {
  name: string;
  walls: Walls;
}
interface Kept {
  plugin: BrokeredPlugin;
  events: PluginEvents;
}
const INTERNAL: WireError = { code: 'INTERNAL', message: 'The host could not do this' };

export class Broker {
  private readonly settings: Settings;
  private readonly log: (message: string) => void;
  private readonly socket: string | null;
  private channel: Channel | null = null;
  private ready = Promise.withResolvers<Ready>();
  private readonly plugins = new Map<number, Kept>();
  private count = 0;

  /**
   * @param log takes what it writes to its error output, which is nothing as a rule
   * @param socket of a broker that is there already; null: one is started
   */
  constructor(settings: Settings, log: (message: string) => void, socket: string | null = null) {
    this.settings = settings;
    this.log = log;
    this.socket = socket;
  }

  /** What isolates plugins here. Rejects where the broker does not start or cannot be reached. */
  isReady(): Promise<Ready> {
    this.open();
    return this.ready.promise;
  }

  start(request: StartRequest, events: PluginEvents): BrokeredPlugin {
    const channel = this.open();
    const id = ++this.count;
    const plugin = new BrokeredPlugin((message) => channel.say({ ...message, id }));
    this.plugins.set(id, { plugin, events });
    channel.say({ do: 'start', id, request });
    return plugin;
  }

  private open(): Channel {
    if (this.channel) return this.channel;
    this.ready = Promise.withResolvers<Ready>();
    this.ready.promise.catch(() => undefined);
    const listener = {
      hear: (message: ToServer) => this.hear(channel, message),
      lost: (reason: string) => this.lost(channel, reason),
      log: (text: string) => this.log(text.trim().slice(0, 2_000)),
    };
    const channel: Channel = this.socket ? joinBroker(this.socket, listener) : forkBroker(this.settings, listener);
    this.channel = channel;
    return channel;
  }

  private lost(channel: Channel, reason: string): void {
    if (this.channel !== channel) return;
    this.channel = null;
    this.ready.reject(new Error(reason));
    const all = [...this.plugins.values()];
    this.plugins.clear();
    for (const { plugin } of all) plugin.hasEnded({ kind: 'stopped', reason });
  }

  private hear(channel: Channel, message: ToServer): void {
    if (message.is === 'ready') {
      this.ready.resolve(message);
      return;
    }
    const kept = this.plugins.get(message.id);
    if (!kept) return;
    const { plugin, events } = kept;
    if (message.is === 'started') plugin.hasStarted(message.plugin, message.fault);
    else if (message.is === 'outcome') plugin.hasAnswered(message.call, message.outcome);
    else if (message.is === 'note')
      events.note(message.message, plugin.invocations.get(message.invocation ?? '') ?? null);
    else if (message.is === 'asked') void this.answer(channel, kept, message);
    else {
      this.plugins.delete(message.id);
      plugin.hasEnded(message.end);
    }
  }

  private async answer(
    channel: Channel,
    { plugin, events }: Kept,
    { ask, invocation: id, method, params }: Extract<ToServer, { is: 'asked' }>,
  ): Promise<void> {
    const invocation = plugin.invocations.get(id);
    try {
      if (!invocation) throw new HostError('INVALID_TOKEN', 'The invocation has ended');
      channel.say({ do: 'answer', ask, result: await events.call(invocation, method, params) });
    } catch (error) {
      channel.say({ do: 'answer', ask, error: error instanceof HostError ? toWireError(error) : INTERNAL });
    }
  }

  /** Ends what runs there for this server. */
  stop(): void {
    const channel = this.channel;
    if (!channel) return;
    this.lost(channel, 'The broker of plugins has ended');
    channel.close();
  }
}
